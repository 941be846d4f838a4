// Package fileio keeps whole files under names in a folder, and lets no more threads of the
// system wait for its disk than it is told to: a read of a regular file cannot be polled,
// so each one that waits holds a thread, and a Go program whose goroutines read files
// directly has as many threads as readers.
//
// A [Store] has Put, Get, Stat, Delete and List. It splits them into jobs, none of which
// waits for anything but the disk: what comes from or goes to a network is in memory
// before a job begins, or after it is done. An [Engine] executes jobs, on as many threads
// as it has; the engines are packages below this one.
//
// The package must not import its engines, and knows nothing of HTTP.
package fileio

import (
	"context"
	"errors"
	"time"
)

// An Engine executes jobs on the threads that it has.
//
// Do executes one job and returns once it is done, with what came of it in the job and
// with the system's error; any number of goroutines may call it at the same time. A
// goroutine that waits in Do holds no thread of the system, unless the engine says so. The
// job, its data and its descriptors belong to the engine until Do returns, and not after
// that. Jobs of different callers are executed in no particular order, but those for which
// [Op.Light] holds do not wait behind others.
//
// At most as many jobs as the engine was made with wait for a thread: one more returns
// [ErrBusy] at once, and so does a job that has waited for longer than the engine was told,
// but for those that are [Job.Begun]. One whose context ends while it waits returns the
// context's error. None of these has been started; what has is done, whatever becomes of
// the context.
//
// A job that fails may have left a part of what it was to write in its temporary file,
// and nothing under the name that people see: there is the file of before, whole. What a
// finished job wrote is seen by all that begin later; whether it outlives a power failure
// is what [Job.Sync] says.
//
// Close waits for the jobs that were accepted, and ends the threads. Do must not be called
// after it, or at the same time.
type Engine interface {
	Do(ctx context.Context, j *Job) error
	Stats() Stats
	Close() error
}

// ErrBusy is the error of a job that was not begun, for others wait already.
var ErrBusy = errors.New("too many file operations wait: try again later")

// Stats are an engine's figures of one moment.
type Stats struct {
	Threads int // of the system that execute jobs at most; 0 = as many as there are jobs
	Waiting int // jobs
	Running int

	Done    int64 // since the engine began, failed ones included
	Refused int64 // with ErrBusy

	Wait    time.Duration // of all jobs done, before they began
	Service time.Duration // of all jobs done, since they began
}
