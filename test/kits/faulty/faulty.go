// Package faulty is an engine on a broken disk: jobs fail, write a part of their data, find no
// room, or wait. A seed decides which ones, so that a failing test can be repeated.
package faulty

import (
	"math/rand/v2"
	"sync"
	"syscall"

	"muster/fileio"
)

// Options configure how the disk is broken.
type Options struct {
	Seed uint64

	// FailOneIn makes one job in this many fail with EIO, some at once and some after writing
	// a part of their data; 0 = no job fails. Jobs that clean up (OpDiscard, OpClose, OpSeal)
	// never fail.
	FailOneIn int

	// RoomFor is how many bytes can be written until the disk is full for ever; 0 = no limit.
	RoomFor int64

	// Stall is called before each job and may block it; nil = no job is delayed.
	Stall func(*fileio.Job)
}

// Engine is a fileio.Engine.
type Engine struct {
	engine  fileio.Engine
	options Options

	mu      sync.Mutex
	random  *rand.Rand
	written int64
}

// New breaks the disk of an engine. Closing the result closes that engine.
func New(engine fileio.Engine, o Options) *Engine {
	return &Engine{engine: engine, options: o, random: rand.New(rand.NewPCG(o.Seed, 1))}
}

// Break makes jobs fail from now on, as described in Options.
func (e *Engine) Break(seed uint64, failOneIn int, roomFor int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.random = rand.New(rand.NewPCG(seed, 1))
	e.options.FailOneIn, e.options.RoomFor, e.written = failOneIn, roomFor, 0
}

func (e *Engine) Do(j *fileio.Job) error {
	if e.options.Stall != nil {
		e.options.Stall(j)
	}
	part, fault := e.decide(j)
	if fault == nil {
		return e.engine.Do(j)
	}
	if part > 0 && j.Op == fileio.OpWrite {
		torn := *j
		torn.Data = j.Data[:part]
		if err := e.engine.Do(&torn); err != nil {
			return err
		}
	}
	return fault
}

// decide returns the error of a job that must fail, and how much of its data is written
// before.
func (e *Engine) decide(j *fileio.Job) (part int, fault error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	writes := j.Op == fileio.OpWrite || j.Op == fileio.OpPut || j.Op == fileio.OpStage
	switch j.Op {
	case fileio.OpDiscard, fileio.OpClose, fileio.OpSeal:
		return 0, nil
	}
	if o := e.options; writes && o.RoomFor > 0 {
		if room := o.RoomFor - e.written; int64(len(j.Data)) > room {
			e.written = o.RoomFor
			return int(room), syscall.ENOSPC
		}
	}
	if n := e.options.FailOneIn; n > 0 && e.random.IntN(n) == 0 {
		return e.random.IntN(len(j.Data) + 1), syscall.EIO
	}
	if writes {
		e.written += int64(len(j.Data))
	}
	return 0, nil
}

func (e *Engine) Room() fileio.Room { return e.engine.Room() }

func (e *Engine) Stats() fileio.Stats { return e.engine.Stats() }

func (e *Engine) Close() error { return e.engine.Close() }
