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

// The same as those of the contestants of package native, whose README says what each
// mode is for.
const (
	warmUpMax     = 20_000
	makespanTasks = 10_000
	longFirst     = 5_000
	longCount     = 64
	barrierRounds = 300
	producerCount = 8
	batchLength   = 64
)

// DispatchModes are what Dispatch measures, in the order of their explanation.
func DispatchModes() []string {
	return []string{"single", "batch", "producers", "foreach", "makespan", "barrier"}
}

// Dispatch measures muster's pool with so many workers: what one task costs, after a
// warm-up. Modes makespan and barrier have numbers of tasks of their own.
func Dispatch(mode string, workers, tasks int) (Cost, error) {
	if !slices.Contains(DispatchModes(), mode) {
		return Cost{}, fmt.Errorf("no mode %q: there are %q", mode, DispatchModes())
	}
	handle := trivial
	switch mode {
	case "foreach":
		return forEach(workers, tasks), nil
	case "makespan":
		handle, tasks = mixed, makespanTasks
	case "barrier":
		all := newMeeting(workers)
		handle, tasks = func(int) { all.wait() }, barrierRounds
	}
	p := pool.New(workers, handle)
	defer p.Close()
	run := map[string]func(*pool.Pool[int], int){
		"single": submit, "batch": submitBatches, "producers": submitFromMany, "makespan": submit,
		"barrier": func(p *pool.Pool[int], rounds int) { meet(p, rounds, workers) },
	}[mode]
	run(p, min(tasks, warmUpMax))
	return measure(tasks, func(n int) { run(p, n) }), nil
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
			for i := range (n + who) / producerCount { // which add up to n
				p.Submit(i)
			}
		})
	}
	producers.Wait()
	p.Wait()
}

func meet(p *pool.Pool[int], rounds, workers int) {
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

// trivial costs next to nothing, yet no call of it can be left out: the compiler does
// not know that no number is that large.
//
//go:noinline
func trivial(n int) {
	if n == math.MaxInt {
		panic("unreachable")
	}
}

// trivialItem is trivial as ForEach calls it: through a variable, so that this call
// cannot be left out either, and none needs to be added.
func trivialItem(_ context.Context, n int) error {
	if n == math.MaxInt {
		return errors.New("unreachable")
	}
	return nil
}

// mixed is the tasks of mode makespan: some of a millisecond side by side among trivial
// ones.
func mixed(n int) {
	if n < longFirst || n >= longFirst+longCount {
		trivial(n)
		return
	}
	for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
	}
}

// meeting has every caller wait until so many have come.
type meeting struct {
	mu          sync.Mutex
	all         sync.Cond
	size        int
	come, round int
}

func newMeeting(size int) *meeting {
	m := &meeting{size: size}
	m.all.L = &m.mu
	return m
}

func (m *meeting) wait() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.come++; m.come == m.size {
		m.come = 0
		m.round++
		m.all.Broadcast()
		return
	}
	for round := m.round; m.round == round; {
		m.all.Wait()
	}
}
