// Package pooled executes jobs on two of muster's pools: transfers on one, and jobs on names
// on the other, so that they never wait behind data. A worker that waits for the disk holds a
// system thread, so the engine has as many threads as workers.
package pooled

import (
	"sync"
	"sync/atomic"
	"time"

	"muster/fileio"
	"muster/pool"
)

// Options configure an engine.
type Options struct {
	Threads int // for transfers: 1 or more
	Light   int // for jobs on names; 0 = transfers' threads execute them
}

// Engine is a fileio.Engine.
type Engine struct {
	options          Options
	transfers, light *pool.Pool[*task] // light may be transfers
	execute          func(*fileio.Job) error

	tasks         sync.Pool
	running, done atomic.Int64
	wait, service atomic.Int64
}

// New starts an engine.
func New(o Options) (*Engine, error) { return start(o, (*fileio.Job).Run) }

func start(o Options, execute func(*fileio.Job) error) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	e := &Engine{options: o, execute: execute}
	e.tasks.New = func() any { return &task{done: make(chan struct{}, 1)} }
	e.transfers = pool.New(o.Threads, e.run, pool.Queue(o.Threads))
	e.light = e.transfers
	if o.Light > 0 {
		e.light = pool.New(o.Light, e.run, pool.Queue(o.Light))
	}
	return e, nil
}

// A task is a submitted job.
type task struct {
	job   *fileio.Job
	since time.Time
	err   error
	done  chan struct{} // receives when a worker is done
}

func (e *Engine) Do(j *fileio.Job) error {
	t := e.tasks.Get().(*task)
	t.job, t.err, t.since = j, nil, time.Now()
	p := e.transfers
	if j.Op.Light() {
		p = e.light
	}
	p.Submit(t)
	<-t.done
	err := t.err
	t.job = nil
	e.tasks.Put(t)
	return err
}

// run executes a task in a worker.
func (e *Engine) run(t *task) {
	began := time.Now()
	e.wait.Add(int64(began.Sub(t.since)))
	e.running.Add(1)
	t.err = e.execute(t.job)
	e.running.Add(-1)
	e.service.Add(int64(time.Since(began)))
	e.done.Add(1)
	t.done <- struct{}{}
}

func (e *Engine) Room() fileio.Room { return fileio.RoomFor(e.options.Threads, e.options.Light) }

func (e *Engine) Stats() fileio.Stats {
	s := fileio.Stats{
		Threads: e.options.Threads + e.options.Light,
		Waiting: e.transfers.Stats().Queued, Running: int(e.running.Load()),
		Done: e.done.Load(),
		Wait: time.Duration(e.wait.Load()), Service: time.Duration(e.service.Load()),
	}
	if e.light != e.transfers {
		s.Waiting += e.light.Stats().Queued
	}
	return s
}

func (e *Engine) Close() error {
	e.transfers.Close()
	if e.light != e.transfers {
		e.light.Close()
	}
	return nil
}
