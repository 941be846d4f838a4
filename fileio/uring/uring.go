//go:build linux

package uring

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"muster/fileio"
)

// A placeQueue holds the free places for jobs of one kind, and counts the goroutines that wait
// for a place.
type placeQueue struct {
	free    chan *place
	waiting atomic.Int64
}

func newPlaceQueue(places int) *placeQueue { return &placeQueue{free: make(chan *place, places)} }

// Engine is a fileio.Engine.
type Engine struct {
	options          Options
	rings            []*ring
	transfers, light *placeQueue // light may be transfers
	pins             runtime.Pinner

	running, done atomic.Int64
	wait, service atomic.Int64
}

// New starts an engine. Its error is an ErrUnavailable if the caller must choose another
// engine.
func New(o Options) (*Engine, error) { return start(o, systemKernel()) }

func start(o Options, k kernel) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	e := &Engine{options: o, transfers: newPlaceQueue(o.Threads)}
	e.light = e.transfers
	only := &sideThreads{make(chan struct{}, 1), make(chan struct{}, 1)}
	err := e.addRing(k, e.transfers, only)
	if err == nil && o.Light > 0 {
		e.light = newPlaceQueue(o.Light)
		err = e.addRing(k, e.light, only)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// addRing starts a ring with the places of a queue.
func (e *Engine) addRing(k kernel, l *placeQueue, only *sideThreads) error {
	var places []*place
	for range cap(l.free) {
		p := &place{done: make(chan int32, 1), call: new(callMemory), side: only}
		e.pins.Pin(p.call)
		places = append(places, p)
		l.free <- p
	}
	r, err := startRing(k, places)
	if err == nil {
		e.rings = append(e.rings, r)
	}
	return err
}

// Do implements fileio.Engine. Goroutines get places in the order in which they came, as from
// any channel.
func (e *Engine) Do(j *fileio.Job) error {
	l := e.transfers
	if j.Op.Light() {
		l = e.light
	}
	asked := time.Now()
	l.waiting.Add(1)
	p := <-l.free
	l.waiting.Add(-1)
	began := time.Now()
	e.wait.Add(int64(began.Sub(asked)))
	e.running.Add(1)
	err := p.run(j)
	e.running.Add(-1)
	e.service.Add(int64(time.Since(began)))
	e.done.Add(1)
	l.free <- p
	return err
}

func (e *Engine) Room() fileio.Room { return fileio.RoomFor(e.options.Threads, e.options.Light) }

// Stats implements fileio.Engine. Threads counts the kernel's threads, one submitting thread
// for each ring, and the side threads.
func (e *Engine) Stats() fileio.Stats {
	s := fileio.Stats{
		Threads: e.options.Threads + e.options.Light + len(e.rings) + sideThreadCount,
		Waiting: int(e.transfers.waiting.Load()), Running: int(e.running.Load()),
		Done: e.done.Load(),
		Wait: time.Duration(e.wait.Load()), Service: time.Duration(e.service.Load()),
	}
	if e.light != e.transfers {
		s.Waiting += int(e.light.waiting.Load())
	}
	return s
}

// Close implements fileio.Engine. All jobs have returned, because each runs in the goroutine
// that called Do.
func (e *Engine) Close() error {
	var errs []error
	for _, r := range e.rings {
		errs = append(errs, r.stop())
	}
	e.pins.Unpin()
	return errors.Join(errs...)
}
