// Package direct executes each job in the calling goroutine, as a plain Go program does. Each
// job that waits for the disk holds a system thread, and nothing bounds their number. It is
// the baseline for the other engines.
package direct

import (
	"sync/atomic"
	"time"

	"muster/fileio"
)

// Engine is a fileio.Engine. Its zero value is ready to use.
type Engine struct {
	running, done atomic.Int64
	service       atomic.Int64
}

// Do executes the job. It holds a thread.
func (e *Engine) Do(j *fileio.Job) error {
	e.running.Add(1)
	began := time.Now()
	err := j.Run()
	e.service.Add(int64(time.Since(began)))
	e.running.Add(-1)
	e.done.Add(1)
	return err
}

// Room returns no bounds.
func (e *Engine) Room() fileio.Room { return fileio.Room{} }

// Stats implements fileio.Engine. An engine without threads of its own knows no waiting jobs.
func (e *Engine) Stats() fileio.Stats {
	return fileio.Stats{
		Running: int(e.running.Load()), Done: e.done.Load(), Service: time.Duration(e.service.Load()),
	}
}

// Close does nothing.
func (e *Engine) Close() error { return nil }
