// Package fileio keeps whole files under names in a folder, and lets no more threads of the
// system wait for its disk than it is told to: a read of a regular file cannot be polled,
// so each one that waits holds a thread, and a Go program whose goroutines read files
// directly has as many threads as readers.
//
// A [Store] has Put, Get, Stat, Delete and List. It splits them into jobs, none of which
// waits for anything but the disk: what comes from or goes to a network is in memory
// before a job begins, or after it is done. Jobs about names alone ([Op.Light]) do not wait
// behind those with data. An [Engine] executes jobs, on as many threads
// as it has; the engines are packages below this one.
//
// The package must not import its engines, and knows nothing of HTTP.
package fileio

import (
	"fmt"
	"time"

	"muster/internal/fair"
)

// An Engine executes jobs on the threads that it has.
//
// Do executes one job and returns once it is done, with what came of it in the job and
// with the system's error; any number of goroutines may call it at the same time. A
// goroutine that waits in Do holds no thread of the system, unless the engine says so. The
// job, its data and its descriptors belong to the engine until Do returns, and not after
// that. Jobs of different callers are executed in no particular order, but those for which
// [Op.Light] holds do not wait behind others. Do refuses nothing. A [Store] hands over no more
// jobs than Room, except for those that continue or end what has begun.
//
// A job that fails may have left a part of what it was to write in its temporary file,
// and nothing under the name that people see: there is the file of before, whole. What a
// finished job wrote is seen by all that begin later; whether it outlives a power failure
// is what [Job.Sync] says.
//
// Close waits for the jobs that were accepted, and ends the threads. Do must not be called
// after it, or at the same time.
type Engine interface {
	Do(j *Job) error
	Room() Room
	Stats() Stats
	Close() error
}

// Room is how many jobs an engine takes at a time: as many as keep its threads busy.
type Room struct {
	Transfers int // 0 = any number
	Light     int // jobs for which [Op.Light] holds; 0 = they count as transfers
}

// RoomFor returns the room of an engine with threads of each kind: for each thread the job
// that it executes, and the next one.
func RoomFor(threads, light int) Room { return Room{Transfers: 2 * threads, Light: 2 * light} }

// ThreadsMax bounds the threads of an engine, those for transfers and those for names alone.
const ThreadsMax = 4096

// CheckThreads returns an error if an engine cannot have these numbers of threads.
func CheckThreads(transfers, light int) error {
	if transfers < 1 || transfers > ThreadsMax || light < 0 || light > ThreadsMax {
		return fmt.Errorf("%d threads for files and %d for names: from 1 and 0 to %d are possible", transfers, light, ThreadsMax)
	}
	return nil
}

// ErrBusy is the error of an operation that was not begun: too many wait already, or it waited
// too long.
var ErrBusy = fair.ErrBusy

// Stats are the figures of one moment, of an engine or of a store with its engine.
type Stats struct {
	Threads int // of the system that execute jobs at most; 0 = as many as there are jobs
	Waiting int // jobs
	Running int

	Done    int64 // since the engine began, failed ones included
	Refused int64 // by the store, with ErrBusy
	Memory  int64 // bytes of files that the store has in memory

	Wait    time.Duration // of all jobs, before they began
	Service time.Duration // of all jobs done, since they began
}
