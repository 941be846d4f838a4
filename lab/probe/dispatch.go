package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"muster/lab/native/contest"
	"muster/lab/results"
	"muster/pool"
)

// Dispatch measures the cost of a task on muster's pool or on one of DispatchContestants, after
// a warm-up. The modes makespan and barrier have fixed numbers of tasks.
type Dispatch struct {
	Impl, Mode     string
	Workers, Tasks int
}

// Own is the name of muster's pool among the contestants of Dispatch.
const Own = "muster"

// DispatchModes returns the modes of Dispatch, in the order of the README.
func DispatchModes() []string {
	return []string{"single", "batch", "producers", "foreach", "makespan", "barrier"}
}

// DispatchContestants returns the names of the contestants that Dispatch can play. "channel" is
// workers that read a channel with 1,024 places. "article" is the article's program: its channel
// has a place for each worker. "go" starts a goroutine for each task.
func DispatchContestants() []string { return []string{"channel", "article", "go"} }

// HasDispatchMode reports whether muster's pool or one of DispatchContestants has a mode.
func HasDispatchMode(impl, mode string) bool {
	only := []string{"batch", "foreach"} // muster's
	return slices.Contains(DispatchModes(), mode) && (impl == Own || !slices.Contains(only, mode))
}

func (o Dispatch) measure(Input) (s results.Sample, err error) {
	if !HasDispatchMode(o.Impl, o.Mode) {
		return s, fmt.Errorf("%q has no mode %q", o.Impl, o.Mode)
	}
	if o.Mode == "foreach" {
		return forEach(o.Workers, o.Tasks).sample(), nil
	}
	handle, tasks := contest.Task(o.Mode, o.Workers, o.Tasks)
	c, ok := newContestant(o.Impl, o.Workers, handle)
	if !ok {
		return s, fmt.Errorf("unknown contestant %q", o.Impl)
	}
	defer c.Close()
	c.Run(o.Mode, min(tasks, contest.WarmUpMax), o.Workers)
	return measure(tasks, func(n int) { c.Run(o.Mode, n, o.Workers) }).sample(), nil
}

// newContestant starts a contestant. It reports false for an unknown name.
func newContestant(name string, workers int, handle func(int)) (contest.Pool, bool) {
	switch name {
	case Own:
		p := pool.New(workers, handle)
		return contest.Pool{Submit: p.Submit, SubmitN: p.SubmitN, Wait: p.Wait, Close: p.Close}, true
	case "channel":
		return readChannel(1024, workers, handle), true
	case "article":
		return readChannel(workers, workers, handle), true
	case "go":
		return startEach(handle), true
	}
	return contest.Pool{}, false
}

// readChannel starts workers that read a channel. To wait, it submits a task for each worker in
// which all of them meet: a channel is read in order.
func readChannel(places, workers int, handle func(int)) contest.Pool {
	tasks, all := make(chan int, places), contest.NewBarrier(workers+1)
	var ended sync.WaitGroup
	for range workers {
		ended.Go(func() {
			for n := range tasks {
				if n < 0 {
					all.Wait()
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
		all.Wait()
	}
	return contest.Pool{Submit: func(n int) { tasks <- n }, Wait: wait, Close: func() { close(tasks); ended.Wait() }}
}

// startEach starts a goroutine for each task.
func startEach(handle func(int)) contest.Pool {
	var tasks sync.WaitGroup
	submit := func(n int) {
		tasks.Add(1)
		go func() {
			handle(n)
			tasks.Done()
		}()
	}
	return contest.Pool{Submit: submit, Wait: tasks.Wait, Close: func() {}}
}

func forEach(workers, n int) cost {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	run := func(n int) {
		if err := pool.ForEach(context.Background(), workers, items[:n], trivialItem); err != nil {
			panic(err)
		}
	}
	run(min(n, contest.WarmUpMax))
	return measure(n, run)
}

// trivialItem is [contest.Trivial] with the signature that ForEach calls. ForEach calls it through a
// variable, so the compiler cannot remove this call either, and no further call is needed.
func trivialItem(_ context.Context, n int) error {
	if n == math.MaxInt {
		return errors.New("unreachable")
	}
	return nil
}
