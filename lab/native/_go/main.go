// Command dispatch is the pools that other modules of Go offer. See ../README.md for what the modes are.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/gammazero/workerpool"
	"github.com/panjf2000/ants/v2"
	concpool "github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"
)

const (
	statusDeadlock   = 7
	statusNoSuchMode = 8

	makespanTasks = 10_000
	longFirst     = 5_000
	longCount     = 64
	barrierRounds = 300
	producerCount = 8
)

// runner is one contestant at work: tasks are numbers, and what a number means was said
// when it was started.
type runner struct {
	submit func(n int)
	wait   func() // until all that was submitted is done
	stop   func()
}

var contestants = map[string]func(workers int, handle func(int)) runner{
	"errgroup":   errgroupLimited,
	"ants":       antsSubmit,
	"ants-func":  antsFunc,
	"pond":       pondPool,
	"conc":       concPool,
	"workerpool": gammazero,
}

// counted adds a WaitGroup to a pool that cannot wait.
func counted(handle func(int), submit func(task func())) (func(int), func()) {
	var tasks sync.WaitGroup
	return func(n int) {
		tasks.Add(1)
		submit(func() {
			handle(n)
			tasks.Done()
		})
	}, tasks.Wait
}

func errgroupLimited(workers int, handle func(int)) runner {
	var g errgroup.Group
	g.SetLimit(workers)
	submit := func(n int) {
		g.Go(func() error {
			handle(n)
			return nil
		})
	}
	return runner{submit, func() { _ = g.Wait() }, func() {}}
}

func antsSubmit(workers int, handle func(int)) runner {
	p, err := ants.NewPool(workers)
	must(err)
	submit, wait := counted(handle, func(task func()) { must(p.Submit(task)) })
	return runner{submit, wait, p.Release}
}

func antsFunc(workers int, handle func(int)) runner {
	var tasks sync.WaitGroup
	p, err := ants.NewPoolWithFuncGeneric(workers, func(n int) {
		handle(n)
		tasks.Done()
	})
	must(err)
	submit := func(n int) {
		tasks.Add(1)
		must(p.Invoke(n))
	}
	return runner{submit, tasks.Wait, p.Release}
}

func pondPool(workers int, handle func(int)) runner {
	p := pond.NewPool(workers)
	submit, wait := counted(handle, func(task func()) { p.Go(task) })
	return runner{submit, wait, p.StopAndWait}
}

// concPool is one that cannot be used again once it has been waited for.
func concPool(workers int, handle func(int)) runner {
	begin := func() *concpool.Pool { return concpool.New().WithMaxGoroutines(workers) }
	p := begin()
	wait := func() {
		p.Wait()
		p = begin()
	}
	return runner{func(n int) { p.Go(func() { handle(n) }) }, wait, func() {}}
}

func gammazero(workers int, handle func(int)) runner {
	p := workerpool.New(workers)
	submit, wait := counted(handle, p.Submit)
	return runner{submit, wait, p.StopWait}
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

// spin keeps a processor busy for a millisecond.
func spin() {
	for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
	}
}

// mixed is the tasks of mode makespan: long ones side by side among short ones.
func mixed(n int) {
	if n >= longFirst && n < longFirst+longCount {
		spin()
	} else {
		trivial(n)
	}
}

// meeting makes every caller wait until a number of them have come.
type meeting struct {
	mu    sync.Mutex
	all   sync.Cond
	size  int
	come  int
	round int
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

type options struct {
	impl, mode string
	workers    int
	tasks      int
	patience   int // in ms
}

func main() {
	var o options
	flag.StringVar(&o.impl, "impl", "", "the contestant")
	flag.StringVar(&o.mode, "mode", "single", "single, producers, makespan or barrier")
	flag.IntVar(&o.workers, "workers", 2, "workers")
	flag.IntVar(&o.tasks, "tasks", 1_000_000, "tasks")
	flag.IntVar(&o.patience, "patience", 20_000, "ms after which what should have ended is a deadlock")
	flag.Parse()
	begin := contestants[o.impl]
	if begin == nil || o.workers < 1 || o.tasks < 1 || o.patience < 1 {
		fmt.Fprintln(os.Stderr, "unknown -impl, or -workers, -tasks or -patience below 1")
		os.Exit(2)
	}
	o.compete(begin)
}

func (o *options) compete(begin func(int, func(int)) runner) {
	switch o.mode {
	case "single":
		o.measure(begin(o.workers, trivial), o.tasks, func(r runner, n int) { submitAll(r, n) })
	case "producers":
		o.measure(begin(o.workers, trivial), o.tasks, func(r runner, n int) {
			var producers sync.WaitGroup
			for who := range producerCount {
				producers.Go(func() { submitAll(r, (n+who)/producerCount) }) // which add up to n
			}
			producers.Wait()
		})
	case "makespan":
		o.measure(begin(o.workers, mixed), makespanTasks, submitAll)
	case "barrier":
		all := newMeeting(o.workers)
		o.measure(begin(o.workers, func(int) { all.wait() }), barrierRounds, func(r runner, n int) {
			for range n {
				submitAll(r, o.workers)
				r.wait()
			}
		})
	default:
		os.Exit(statusNoSuchMode)
	}
}

func submitAll(r runner, n int) {
	for i := range n {
		r.submit(i)
	}
}

// measure runs once to warm up, then once by the clock, and prints the result.
func (o *options) measure(r runner, n int, run func(runner, int)) {
	late := time.AfterFunc(time.Duration(o.patience)*time.Millisecond, func() { os.Exit(statusDeadlock) })
	run(r, min(n, 20_000))
	r.wait()
	if o.mode != "barrier" {
		late.Stop()
	}
	cpu, began := cpuTime(), time.Now()
	run(r, n)
	r.wait()
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	late.Stop()
	each := func(d time.Duration) float64 { return float64(d) / float64(n) }
	fmt.Printf("BenchmarkDispatch/impl=%s/mode=%s/workers=%d %d %.2f ns/op %.2f cpu-ns/op\n",
		o.impl, o.mode, o.workers, n, each(wall), each(cpu))
	r.stop()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
