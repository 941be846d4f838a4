// Package direct executes each job in the goroutine that asks for it, as Go programs do
// that know of nothing else: whatever waits for the disk holds a thread of the system, and
// nothing bounds them. It is what the other engines are compared with.
package direct

import (
	"sync/atomic"
	"time"

	"muster/fileio"
)

// Engine is such an engine; its zero value is ready.
type Engine struct {
	running, done atomic.Int64
	service       atomic.Int64
}

// Do executes the job. A goroutine in it holds a thread.
func (e *Engine) Do(j *fileio.Job) error {
	e.running.Add(1)
	began := time.Now()
	err := j.Run()
	e.service.Add(int64(time.Since(began)))
	e.running.Add(-1)
	e.done.Add(1)
	return err
}

// Room is without bounds.
func (e *Engine) Room() fileio.Room { return fileio.Room{} }

// Stats returns what is known.
func (e *Engine) Stats() fileio.Stats {
	return fileio.Stats{
		Running: int(e.running.Load()), Done: e.done.Load(), Service: time.Duration(e.service.Load()),
	}
}

// Close has nothing to end.
func (e *Engine) Close() error { return nil }
