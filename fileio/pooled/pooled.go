// Package pooled executes jobs on two of muster's pools: transfers on one, what is about
// names alone on another, so that it never waits behind data. A worker that waits for the
// disk holds a thread of the system, so there are as many threads as workers.
package pooled

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"muster/fileio"
	"muster/fileio/internal/queue"
	"muster/pool"
)

// Options of an engine.
type Options struct {
	Threads int // for transfers: 1 or more
	Light   int // for names alone; 0 = they go with the transfers

	WaitingMax int           // jobs that wait for a thread, of each kind; 0 = 1024
	WaitMax    time.Duration // how long one waits; 0 = for as long as it takes
}

// ThreadsMax bounds either number of threads.
const ThreadsMax = queue.ThreadsMax

// Engine is a fileio.Engine.
type Engine struct {
	options          Options
	transfers, light *pool.Pool[*task] // light may be transfers
	execute          func(*fileio.Job) error

	tasks         sync.Pool
	running       atomic.Int64
	done, refused atomic.Int64
	wait, service atomic.Int64
}

// New starts an engine.
func New(o Options) (*Engine, error) { return start(o, (*fileio.Job).Run) }

func start(o Options, execute func(*fileio.Job) error) (*Engine, error) {
	var err error
	if o.WaitingMax, err = queue.Check(o.Threads, o.Light, o.WaitingMax); err != nil {
		return nil, err
	}
	e := &Engine{options: o, execute: execute}
	e.tasks.New = func() any { return &task{done: make(chan struct{}, 1)} }
	e.transfers = pool.New(o.Threads, e.run, pool.Queue(o.WaitingMax), pool.InOrder())
	e.light = e.transfers
	if o.Light > 0 {
		e.light = pool.New(o.Light, e.run, pool.Queue(o.WaitingMax), pool.InOrder())
	}
	return e, nil
}

// A task is a job on its way. Whoever changes state from waiting has it: a worker, or who
// submitted it and would not wait any longer.
type task struct {
	job   *fileio.Job
	state atomic.Int32
	since time.Time
	err   error
	done  chan struct{} // gets one when a worker is done
}

const (
	waiting int32 = iota
	started
	left
)

// Do is that of fileio.Engine.
func (e *Engine) Do(ctx context.Context, j *fileio.Job) error {
	// Or a worker may have done it before its end is looked at.
	if err := ctx.Err(); err != nil && !j.Begun {
		return err
	}
	t := e.tasks.Get().(*task)
	t.job, t.err, t.since = j, nil, time.Now()
	t.state.Store(waiting)
	p := e.transfers
	if j.Op.Light() {
		p = e.light
	}
	if j.Begun {
		p.Submit(t)
		<-t.done
		return e.finish(t)
	}
	if !p.TrySubmit(t) {
		e.tasks.Put(t)
		e.refused.Add(1)
		return fileio.ErrBusy
	}
	// A task that was left stays the pool's: a worker will take it, and do nothing.
	leave := func() bool { return t.state.CompareAndSwap(waiting, left) }
	if _, err := queue.Wait(ctx, e.options.WaitMax, t.done, leave); err != nil {
		if err == fileio.ErrBusy {
			e.refused.Add(1)
		}
		return err
	}
	return e.finish(t)
}

func (e *Engine) finish(t *task) error {
	err := t.err
	t.job = nil
	e.tasks.Put(t)
	return err
}

// run is what a worker does with a task.
func (e *Engine) run(t *task) {
	if !t.state.CompareAndSwap(waiting, started) {
		return
	}
	began := time.Now()
	e.wait.Add(int64(began.Sub(t.since)))
	e.running.Add(1)
	t.err = e.execute(t.job)
	e.running.Add(-1)
	e.service.Add(int64(time.Since(began)))
	e.done.Add(1)
	t.done <- struct{}{}
}

// Stats is that of fileio.Engine.
func (e *Engine) Stats() fileio.Stats {
	s := fileio.Stats{
		Threads: e.options.Threads + e.options.Light,
		Waiting: e.transfers.Stats().Queued, Running: int(e.running.Load()),
		Done: e.done.Load(), Refused: e.refused.Load(),
		Wait: time.Duration(e.wait.Load()), Service: time.Duration(e.service.Load()),
	}
	if e.light != e.transfers {
		s.Waiting += e.light.Stats().Queued
	}
	return s
}

// Close is that of fileio.Engine.
func (e *Engine) Close() error {
	e.transfers.Close()
	if e.light != e.transfers {
		e.light.Close()
	}
	return nil
}
