package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"muster/pool"
)

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

// HasDispatchMode reports whether muster's pool or one of DispatchContestants has a mode.
func HasDispatchMode(impl, mode string) bool {
	only := []string{"batch", "foreach"} // muster's
	return slices.Contains(DispatchModes(), mode) && (impl == Own || !slices.Contains(only, mode))
}

// Dispatch measures the cost of a task on muster's pool or on one of DispatchContestants, after
// a warm-up. The modes makespan and barrier have fixed numbers of tasks.
func Dispatch(impl, mode string, workers, tasks int) (Cost, error) {
	if !HasDispatchMode(impl, mode) {
		return Cost{}, fmt.Errorf("%q has no mode %q: the modes of muster are %q", impl, mode, DispatchModes())
	}
	handle := trivial
	switch mode {
	case "foreach":
		return forEach(workers, tasks), nil
	case "makespan":
		handle, tasks = mixedTask, makespanTasks
	case "barrier":
		all := newBarrier(workers)
		handle, tasks = func(int) { all.wait() }, barrierRounds
	}
	if impl == Own {
		return dispatchOwn(mode, workers, tasks, handle), nil
	}
	c, ok := newContestant(impl, workers, handle)
	if !ok {
		return Cost{}, fmt.Errorf("unknown contestant %q: use one of %q", impl, DispatchContestants())
	}
	defer c.close()
	c.run(mode, min(tasks, warmUpMax), workers)
	return measure(tasks, func(n int) { c.run(mode, n, workers) }), nil
}

func dispatchOwn(mode string, workers, tasks int, handle func(int)) Cost {
	p := pool.New(workers, handle)
	defer p.Close()
	run := map[string]func(*pool.Pool[int], int){
		"single": submit, "batch": submitBatches, "producers": submitFromMany, "makespan": submit,
		"barrier": func(p *pool.Pool[int], rounds int) { submitRounds(p, rounds, workers) },
	}[mode]
	run(p, min(tasks, warmUpMax))
	return measure(tasks, func(n int) { run(p, n) })
}

func submit(p *pool.Pool[int], n int) {
	for i := range n {
		p.Submit(i)
	}
	p.Wait()
}

func submitBatches(p *pool.Pool[int], n int) {
	batch := make([]int, batchLength)
	for from := 0; from < n; from += batchLength {
		part := batch[:min(batchLength, n-from)]
		for i := range part {
			part[i] = from + i
		}
		p.SubmitN(part)
	}
	p.Wait()
}

func submitFromMany(p *pool.Pool[int], n int) {
	var producers sync.WaitGroup
	for who := range producerCount {
		producers.Go(func() {
			for i := range (n + who) / producerCount { // the numbers of all producers add up to n
				p.Submit(i)
			}
		})
	}
	producers.Wait()
	p.Wait()
}

func submitRounds(p *pool.Pool[int], rounds, workers int) {
	for range rounds {
		for k := range workers {
			p.Submit(k)
		}
		p.Wait()
	}
}

func forEach(workers, n int) Cost {
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
