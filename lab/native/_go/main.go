// Command dispatch is the pools that other modules of Go offer. See ../README.md for what the modes are.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/gammazero/workerpool"
	"github.com/panjf2000/ants/v2"
	concpool "github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"dispatch/contest"
)

const (
	statusDeadlock   = 7
	statusNoSuchMode = 8
)

var contestants = map[string]func(workers int, handle func(int)) contest.Pool{
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

func errgroupLimited(workers int, handle func(int)) contest.Pool {
	var g errgroup.Group
	g.SetLimit(workers)
	submit := func(n int) {
		g.Go(func() error {
			handle(n)
			return nil
		})
	}
	return contest.Pool{Submit: submit, Wait: func() { _ = g.Wait() }, Close: func() {}}
}

func antsSubmit(workers int, handle func(int)) contest.Pool {
	p, err := ants.NewPool(workers)
	must(err)
	submit, wait := counted(handle, func(task func()) { must(p.Submit(task)) })
	return contest.Pool{Submit: submit, Wait: wait, Close: p.Release}
}

func antsFunc(workers int, handle func(int)) contest.Pool {
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
	return contest.Pool{Submit: submit, Wait: tasks.Wait, Close: p.Release}
}

func pondPool(workers int, handle func(int)) contest.Pool {
	p := pond.NewPool(workers)
	submit, wait := counted(handle, func(task func()) { p.Go(task) })
	return contest.Pool{Submit: submit, Wait: wait, Close: p.StopAndWait}
}

// concPool is one that cannot be used again once it has been waited for.
func concPool(workers int, handle func(int)) contest.Pool {
	begin := func() *concpool.Pool { return concpool.New().WithMaxGoroutines(workers) }
	p := begin()
	wait := func() {
		p.Wait()
		p = begin()
	}
	return contest.Pool{Submit: func(n int) { p.Go(func() { handle(n) }) }, Wait: wait, Close: func() {}}
}

func gammazero(workers int, handle func(int)) contest.Pool {
	p := workerpool.New(workers)
	submit, wait := counted(handle, p.Submit)
	return contest.Pool{Submit: submit, Wait: wait, Close: p.StopWait}
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

// compete runs once to warm up, then once by the clock, and prints the result.
func (o *options) compete(begin func(int, func(int)) contest.Pool) {
	if !slices.Contains([]string{"single", "producers", "makespan", "barrier"}, o.mode) {
		os.Exit(statusNoSuchMode)
	}
	handle, n := contest.Task(o.mode, o.workers, o.tasks)
	p := begin(o.workers, handle)
	late := time.AfterFunc(time.Duration(o.patience)*time.Millisecond, func() { os.Exit(statusDeadlock) })
	p.Run(o.mode, min(n, contest.WarmUpMax), o.workers)
	if o.mode != "barrier" {
		late.Stop()
	}
	cpu, began := cpuTime(), time.Now()
	p.Run(o.mode, n, o.workers)
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	late.Stop()
	each := func(d time.Duration) float64 { return float64(d) / float64(n) }
	fmt.Printf("BenchmarkDispatch/impl=%s/mode=%s/workers=%d %d %.2f ns/op %.2f cpu-ns/op\n",
		o.impl, o.mode, o.workers, n, each(wall), each(cpu))
	p.Close()
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
