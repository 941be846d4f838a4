package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"muster/lab/results"
	"muster/pool"
)

// Dispatch measures the cost of a task on muster's pool or on one of DispatchContestants, after
// a warm-up. The modes makespan and barrier have fixed numbers of tasks.
type Dispatch struct {
	Impl, Mode     string
	Workers, Tasks int
}

// The contestants of package native use the same numbers. That package's README explains the
// modes.
const (
	warmUpMax     = 20_000
	makespanTasks = 10_000
	longFirst     = 5_000
	longCount     = 64
	barrierRounds = 300
	producerCount = 8
	batchLength   = 64
)

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
	handle := trivial
	switch o.Mode {
	case "foreach":
		return forEach(o.Workers, o.Tasks).sample(), nil
	case "makespan":
		handle, o.Tasks = mixedTask, makespanTasks
	case "barrier":
		all := newBarrier(o.Workers)
		handle, o.Tasks = func(int) { all.wait() }, barrierRounds
	}
	c, ok := newContestant(o.Impl, o.Workers, handle)
	if !ok {
		return s, fmt.Errorf("unknown contestant %q", o.Impl)
	}
	defer c.close()
	c.run(o.Mode, min(o.Tasks, warmUpMax), o.Workers)
	return measure(o.Tasks, func(n int) { c.run(o.Mode, n, o.Workers) }).sample(), nil
}

// A contestant does tasks. A task is a number.
type contestant struct {
	submit  func(n int)
	submitN func(tasks []int) // nil = it takes tasks one by one
	wait    func()            // until all submitted tasks are done
	close   func()
}

// newContestant starts a contestant. It reports false for an unknown name.
func newContestant(name string, workers int, handle func(int)) (contestant, bool) {
	switch name {
	case Own:
		p := pool.New(workers, handle)
		return contestant{p.Submit, p.SubmitN, p.Wait, p.Close}, true
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
	return contestant{func(n int) { tasks <- n }, nil, wait, func() { close(tasks); ended.Wait() }}
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
	return contestant{submit, nil, tasks.Wait, func() {}}
}

func (c contestant) submitAll(n int) {
	for i := range n {
		c.submit(i)
	}
}

// run does n tasks, or n rounds of tasks that wait for one another.
func (c contestant) run(mode string, n, workers int) {
	switch mode {
	case "batch":
		batch := make([]int, batchLength)
		for from := 0; from < n; from += batchLength {
			part := batch[:min(batchLength, n-from)]
			for i := range part {
				part[i] = from + i
			}
			c.submitN(part)
		}
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
	run(min(n, warmUpMax))
	return measure(n, run)
}

// trivial costs next to nothing. The compiler cannot remove the call, because it does not know
// that n is never that large.
//
//go:noinline
func trivial(n int) {
	if n == math.MaxInt {
		panic("unreachable")
	}
}

// trivialItem is trivial with the signature that ForEach calls. ForEach calls it through a
// variable, so the compiler cannot remove this call either, and no further call is needed.
func trivialItem(_ context.Context, n int) error {
	if n == math.MaxInt {
		return errors.New("unreachable")
	}
	return nil
}

// mixedTask is a task of mode makespan: 64 tasks of a millisecond side by side among trivial
// ones.
func mixedTask(n int) {
	if n < longFirst || n >= longFirst+longCount {
		trivial(n)
		return
	}
	for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
	}
}

// A barrier makes each caller wait until the given number of callers have arrived.
type barrier struct {
	mu             sync.Mutex
	all            sync.Cond
	size           int
	arrived, round int
}

func newBarrier(size int) *barrier {
	b := &barrier{size: size}
	b.all.L = &b.mu
	return b
}

func (m *barrier) wait() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived++; m.arrived == m.size {
		m.arrived = 0
		m.round++
		m.all.Broadcast()
		return
	}
	for round := m.round; m.round == round; {
		m.all.Wait()
	}
}
