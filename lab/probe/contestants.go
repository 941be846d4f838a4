package probe

import "sync"

// A contestant does tasks without a pool, as many Go programs do. A task is a number.
type contestant struct {
	submit func(n int)
	wait   func() // until all submitted tasks are done
	close  func()
}

// DispatchContestants returns the names of the contestants that Dispatch can play. "channel" is
// workers that read a channel with 1,024 places. "article" is the article's program: its channel
// has a place for each worker. "go" starts a goroutine for each task.
func DispatchContestants() []string { return []string{"channel", "article", "go"} }

// newContestant starts a contestant. It reports false for an unknown name.
func newContestant(name string, workers int, handle func(int)) (contestant, bool) {
	switch name {
	case "channel":
		return readChannel(1024, workers, handle), true
	case "article":
		return readChannel(workers, workers, handle), true
	case "go":
		return startEach(handle), true
	}
	return contestant{}, false
}

// readChannel starts workers that read a channel. To wait, it submits a task for each worker in
// which all of them meet: a channel is read in order.
func readChannel(places, workers int, handle func(int)) contestant {
	tasks, all := make(chan int, places), newBarrier(workers+1)
	var ended sync.WaitGroup
	for range workers {
		ended.Go(func() {
			for n := range tasks {
				if n < 0 {
					all.wait()
					continue
				}
				handle(n)
			}
		})
	}
	wait := func() {
		for range workers {
			tasks <- -1
		}
		all.wait()
	}
	return contestant{func(n int) { tasks <- n }, wait, func() { close(tasks); ended.Wait() }}
}

// startEach starts a goroutine for each task.
func startEach(handle func(int)) contestant {
	var tasks sync.WaitGroup
	submit := func(n int) {
		tasks.Add(1)
		go func() {
			handle(n)
			tasks.Done()
		}()
	}
	return contestant{submit, tasks.Wait, func() {}}
}

func (c contestant) submitAll(n int) {
	for i := range n {
		c.submit(i)
	}
}

// run does n tasks, or n rounds of tasks that wait for one another.
func (c contestant) run(mode string, n, workers int) {
	switch mode {
	case "producers":
		var producers sync.WaitGroup
		for who := range producerCount {
			producers.Go(func() { c.submitAll((n + who) / producerCount) }) // the numbers add up to n
		}
		producers.Wait()
	case "barrier":
		for range n {
			c.submitAll(workers)
			c.wait()
		}
	default:
		c.submitAll(n)
	}
	c.wait()
}
