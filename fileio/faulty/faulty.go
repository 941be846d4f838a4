// Package faulty is an engine on a disk that is broken: jobs fail, write a part of their
// data, find no room, or wait. Which do is decided by a seed, so that a test that fails
// can be repeated.
package faulty

import (
	"math/rand/v2"
	"sync"
	"syscall"

	"muster/fileio"
)

// Options say how the disk is broken.
type Options struct {
	Seed uint64

	// FailOneIn is how many jobs there are for each one that fails with EIO: some of those
	// at once, some after a part of their data is written. 0 = none fails. What takes
	// something away again (OpDiscard, OpClose, OpSeal) never does.
	FailOneIn int

	// RoomFor is how many bytes can be written before the disk is full, for ever; 0 = as
	// many as there is room for.
	RoomFor int64

	// Stall is called before a job is begun, and has it wait; nil = none waits.
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

// New breaks the disk of an engine, which is closed with this one.
func New(engine fileio.Engine, o Options) *Engine {
	return &Engine{engine: engine, options: o, random: rand.New(rand.NewPCG(o.Seed, 1))}
}

// Break has jobs fail from now on, as in Options.
func (e *Engine) Break(seed uint64, failOneIn int, roomFor int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.random = rand.New(rand.NewPCG(seed, 1))
	e.options.FailOneIn, e.options.RoomFor, e.written = failOneIn, roomFor, 0
}

// Do is that of fileio.Engine.
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

// decide returns the error of a job that is to fail, and how much of its data is written
// before it does.
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

// Room is that of fileio.Engine.
func (e *Engine) Room() fileio.Room { return e.engine.Room() }

// Stats is that of fileio.Engine.
func (e *Engine) Stats() fileio.Stats { return e.engine.Stats() }

// Close is that of fileio.Engine.
func (e *Engine) Close() error { return e.engine.Close() }
