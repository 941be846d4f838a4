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
	"strconv"
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

	Kept         int64 // bytes that files take of the store's Capacity; 0 = it has none
	Evicted      int64 // files that gave way since the start
	EvictedBytes int64 // that they took

	Wait    time.Duration // sum over all jobs, before they began
	Service time.Duration // sum over all done jobs, from beginning to end
}

// A Job is one operation on a whole file, or on a piece of a large one. Its Op determines
// which fields it reads and which it sets.
type Job struct {
	Op Op

	Folder int    // descriptor of the folder of Name and Temp
	Name   string // the public name of the file; one path component
	Temp   string // the temporary name of a file that is being written

	File   int    // descriptor of an open file
	Data   []byte // to write, or to fill
	Offset int64  // in the file
	Sync   bool   // the result survives a power failure

	N     int      // result: bytes read
	Info  Entry    // result
	Names []string // result of OpList
}

// A job reads at most chunkSize bytes of a file, and writes at most [pages.Max]. Larger pieces
// are written with fewer jobs, which takes less processor time. They are read no faster.
const chunkSize = 256 << 10

// Op is the operation of a job.
type Op uint8

const (
	_ Op = iota

	// OpPut writes Data to a new file Temp and renames it to Name. With Sync it flushes the
	// file before and the folder after the rename. On failure it removes Temp. It sets Info of
	// the file that it wrote, even if Name refers to another file by then.
	OpPut
	// OpStage writes Data to a new file Temp and sets Info. On failure it removes Temp.
	OpStage
	// OpCreate creates an empty file Temp and sets File, which stays open.
	OpCreate
	// OpWrite writes all of Data at Offset of File.
	OpWrite
	// OpSeal sets Info and closes File. With Sync it flushes the file before.
	OpSeal
	// OpCommit renames Temp to Name. With Sync it flushes the folder afterwards.
	OpCommit
	// OpDiscard removes Temp.
	OpDiscard
	// OpGet opens Name, reads its beginning into Data, and sets Info and N. If the file is
	// larger than Data it stays open and OpGet sets File. Otherwise File is -1.
	OpGet
	// OpRead fills Data from Offset of File. It sets N, which is less than the length of Data
	// at the file's end.
	OpRead
	// OpClose closes File.
	OpClose
	// OpStat sets Info of Name.
	OpStat
	// OpDelete removes Name. With Sync it flushes the folder afterwards.
	OpDelete
	// OpList sets Names to all names in Folder.
	OpList
	// OpSync flushes everything that was written before to the file system of Folder.
	OpSync
)

// Light reports whether an operation is on names only. Such jobs do not wait behind jobs that
// transfer data.
func (o Op) Light() bool {
	switch o {
	case OpStat, OpDelete, OpCommit, OpDiscard, OpClose:
		return true
	}
	return false
}

// An Entry holds the system's data on a file.
type Entry struct {
	Size    int64
	Changed time.Time
	Inode   uint64
}

// Info describes a file.
type Info struct {
	Name    string
	Size    int64
	Changed time.Time
	Tag     string // identifies the content under that name: every Put changes it
}

// infoOf returns the Info of an entry. The tag includes the inode beside the time, whose
// resolution is a few milliseconds. A new file has another inode than the file that it
// replaces.
func infoOf(name string, e Entry) Info {
	return Info{
		Name: name, Size: e.Size, Changed: e.Changed,
		Tag: strconv.FormatUint(e.Inode, 16) + "-" + strconv.FormatInt(e.Changed.UnixNano(), 16) + "-" + strconv.FormatInt(e.Size, 16),
	}
}
