// Package fileio keeps whole files under names in a folder, and bounds the threads that wait
// for its disk. A read of a regular file cannot be polled, so each waiting read holds a
// thread. A Go program whose goroutines read files directly has as many threads as readers.
//
// A [Store] has Put, Get, Stat, Delete and List. It splits them into jobs, which wait only for
// the disk: network data is in memory before a job begins or after it ends. Jobs on names only
// ([Op.Light]) do not wait behind data. An [Engine] executes jobs on its threads.
//
// The package must not import its engines, which are the packages below it, nor know HTTP.
package fileio

import (
	"fmt"
	"time"

	"muster/internal/fair"
)

// An Engine executes jobs on its threads.
//
// Do executes one job and returns when it is done. The results are in the job, and the error
// is the system's. Any number of goroutines may call Do at the same time. A goroutine that
// waits in Do holds no thread, unless the engine's documentation says so. The job, its data
// and its descriptors belong to the engine until Do returns, and not afterwards. Jobs of
// different callers run in no particular order, but [Op.Light] jobs do not wait behind others.
// Do refuses no job. A [Store] submits at most Room jobs, except for jobs that continue or end
// an operation.
//
// A failed job may leave a part of its data in its temporary file. The file under the public
// name is unchanged. Every job that begins later sees what a finished job wrote. [Job.Sync]
// determines whether that survives a power failure.
//
// Close waits for the accepted jobs and ends the threads. Do must not be called during or
// after Close.
type Engine interface {
	Do(j *Job) error
	Room() Room
	Stats() Stats
	Close() error
}

// Room is how many jobs an engine takes at a time. More would not keep its threads busier.
type Room struct {
	Transfers int // 0 = no limit
	Light     int // jobs with [Op.Light]; 0 = they count as transfers
}

// RoomFor returns the room of an engine with threads of each kind: for each thread the running
// job and the next one.
func RoomFor(threads, light int) Room { return Room{Transfers: 2 * threads, Light: 2 * light} }

// ThreadsMax bounds the threads of an engine: those for transfers, and those for light jobs.
const ThreadsMax = 4096

// CheckThreads returns an error if an engine cannot have these numbers of threads.
func CheckThreads(transfers, light int) error {
	if transfers < 1 || transfers > ThreadsMax || light < 0 || light > ThreadsMax {
		return fmt.Errorf("%d threads for files and %d for names are out of range: use from 1 and 0 to %d", transfers, light, ThreadsMax)
	}
	return nil
}

// ErrBusy is the error of an operation that did not begin, because too many others wait or
// because it waited too long.
var ErrBusy = fair.ErrBusy

// Stats holds the figures of one moment, of an engine or of a store with its engine.
type Stats struct {
	Threads int // the most system threads that execute jobs; 0 = one for each job
	Waiting int // jobs
	Running int

	Done    int64 // jobs since the engine started, including failed ones
	Refused int64 // operations that the store refused with ErrBusy
	Memory  int64 // bytes of files that the store has in memory

	Wait    time.Duration // sum over all jobs, before they began
	Service time.Duration // sum over all done jobs, from beginning to end
}
