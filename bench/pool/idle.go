package main

import (
	"fmt"
	"io"
	"syscall"
	"time"

	"muster/lab/stat"
	"muster/pool"
)

const (
	idleRounds = 6
	idleEach   = 2 * time.Second
	idleTasks  = 100_000 // done by the workers before, so that all have started
)

// printIdle compares the processor time of workers that wait for tasks with that of one goroutine
// that waits for a channel, in turns.
func printIdle(out io.Writer, workers int) {
	var pools, bare []float64 // seconds
	for range idleRounds {
		pools = append(pools, idlePool(workers).Seconds())
		bare = append(bare, idleGoroutine().Seconds())
	}
	fmt.Fprintf(out, "\n## Idle\n\nProcessor time of the process in %v of waiting, median of %d in turns.\n\n| | µs | from–to |\n|---|---:|---:|\n", idleEach, idleRounds)
	for _, row := range []struct {
		name  string
		times []float64
	}{{fmt.Sprintf("muster, %d workers that had %d tasks before", workers, idleTasks), pools}, {"one goroutine that waits for a channel", bare}} {
		s := stat.Summarize(row.times)
		fmt.Fprintf(out, "| %s | %.0f | %.0f–%.0f |\n", row.name, 1e6*s.Median, 1e6*s.Low, 1e6*s.High)
	}
}

func idlePool(workers int) time.Duration {
	p := pool.New(workers, func(int) {})
	defer p.Close()
	for i := range idleTasks {
		p.Submit(i)
	}
	p.Wait()
	return waitUsing()
}

func idleGoroutine() time.Duration {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		<-end
		close(ended)
	}()
	used := waitUsing()
	close(end)
	<-ended
	return used
}

// waitUsing waits, and returns the processor time that the process used meanwhile.
func waitUsing() time.Duration {
	time.Sleep(100 * time.Millisecond)
	before := processorTime()
	time.Sleep(idleEach)
	return processorTime() - before
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it cannot fail for this process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
