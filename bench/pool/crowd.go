package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"muster/lab/stat"
	"muster/pool"
)

const (
	crowdWorkers = 8
	crowdPlaces  = 1024 // of the pool's queue, and of the channel
	crowdTasks   = 1_000_000
	crowdGoal    = 1.5
)

// crowdProducers lists how many goroutines submit the tasks.
var crowdProducers = []int{1, 8, 500, 5_000, 100_000, 1_000_000}

// printCrowds compares the pool with a channel of the same capacity, for more and more producers. The
// two take turns, and each begins every other round.
func printCrowds(out io.Writer, rounds int) {
	fmt.Fprintf(out, "\n## From a crowd of producers\n\n%d tasks that do nothing from as many goroutines as the first column says, %d workers, %d places; the producers' start included. Medians of %d rounds in turns, in ns of CPU for each task.\n\n| producers | muster | channel | muster ÷ channel | from–to | goal |\n|---:|---:|---:|---:|---:|---:|\n",
		crowdTasks, crowdWorkers, crowdPlaces, rounds)
	for _, producers := range crowdProducers {
		crowdPool(producers) // the runtime keeps goroutines for later use
		crowdChannel(producers)
		var ours, channel []float64
		for round := range rounds {
			if round%2 == 0 {
				ours = append(ours, crowdPool(producers))
			}
			channel = append(channel, crowdChannel(producers))
			if round%2 == 1 {
				ours = append(ours, crowdPool(producers))
			}
		}
		ratio := stat.Ratio(ours, channel)
		fmt.Fprintf(out, "| %d | %.0f | %.0f | %.2f | %.2f–%.2f | at most %g |\n", producers,
			stat.Summarize(ours).Median, stat.Summarize(channel).Median, ratio.Median, ratio.Low, ratio.High, crowdGoal)
	}
}

func crowdPool(producers int) float64 {
	return timeCrowd(producers, func(submit func(send func(int))) {
		p := pool.New(crowdWorkers, count, pool.Queue(crowdPlaces))
		submit(p.Submit)
		p.Close()
	})
}

func crowdChannel(producers int) float64 {
	return timeCrowd(producers, func(submit func(send func(int))) {
		tasks := make(chan int, crowdPlaces)
		var workers sync.WaitGroup
		for range crowdWorkers {
			workers.Go(func() {
				for n := range tasks {
					count(n)
				}
			})
		}
		submit(func(n int) { tasks <- n })
		close(tasks)
		workers.Wait()
	})
}

// timeCrowd returns the processor time for each task, in ns, of a contest in which producers
// submit crowdTasks tasks.
func timeCrowd(producers int, contest func(submit func(send func(int)))) float64 {
	before := processorTime()
	contest(func(send func(int)) {
		var all sync.WaitGroup
		for i := range producers {
			all.Go(func() {
				for range crowdTasks / producers {
					send(i)
				}
			})
		}
		all.Wait()
	})
	return float64(processorTime()-before) / crowdTasks
}

// counters keep the compiler from leaving out the tasks. Each has cache lines of its own.
var counters [16]struct {
	n int
	_ [128 - 8]byte
}

func count(n int) { counters[n%len(counters)].n++ }

// elapsed returns how long f takes for each of n calls in it.
func elapsed(n int, f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began) / time.Duration(n)
}
