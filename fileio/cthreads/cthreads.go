//go:build linux && cgo

package cthreads

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -pthread
#cgo LDFLAGS: -pthread
#include <stdlib.h>
#include "crew.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"muster/fileio"
)

// Engine is a fileio.Engine.
type Engine struct {
	options Options
	crew    *C.crew
	jobs    []C.job // one for each place, in C's memory
	tasks   []task  // one for each place

	// free and light hold the unused places. Jobs on names have their own places if they have
	// threads, so that data does not take them all.
	free, light chan int
	pushes      chan int // places of jobs on their way to the crew
	event       *os.File // readable when jobs are done

	submitting, collecting sync.WaitGroup // the two goroutines that call the crew

	running, done atomic.Int64
	wait, service atomic.Int64
}

// A task is Go's part of the job in a place.
type task struct {
	since time.Time
	done  chan struct{} // receives when the job is done
	pins  runtime.Pinner
}

// New starts the threads.
func New(o Options) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	room := fileio.RoomFor(o.Threads, o.Light)
	places := room.Transfers + room.Light
	affinity := C.int(0)
	if o.Affinity {
		affinity = 1
	}
	crew, err := C.crew_start(C.int(o.Threads), C.int(o.Light), C.int(places), affinity)
	if crew == nil {
		return nil, fmt.Errorf("%d threads in C: %w", o.Threads+o.Light, err)
	}
	fd, err := syscall.Dup(int(C.crew_event(crew)))
	if err != nil {
		C.crew_stop(crew)
		C.crew_free(crew)
		return nil, err
	}
	e := &Engine{
		options: o, crew: crew, jobs: unsafe.Slice(C.crew_jobs(crew), places), tasks: make([]task, places),
		free: make(chan int, room.Transfers), light: make(chan int, room.Light), pushes: make(chan int, places), event: os.NewFile(uintptr(fd), "event"),
	}
	for i := range e.tasks {
		e.tasks[i].done = make(chan struct{}, 1)
		e.releasePlace(i)
	}
	e.submitting.Go(e.submitJobs)
	e.collecting.Go(e.collectDone)
	return e, nil
}

// Threads describes the system's threads that execute jobs.
func (e *Engine) Threads() []Thread {
	threads := make([]Thread, e.options.Threads+e.options.Light)
	for i := range threads {
		var id, cpu C.int
		C.crew_thread(e.crew, C.int(i), &id, &cpu)
		threads[i] = Thread{ID: int(id), CPU: int(cpu), Light: i >= e.options.Threads}
	}
	return threads
}

func (e *Engine) Do(j *fileio.Job) error {
	if len(j.Name) >= C.NAME_ROOM || len(j.Temp) >= C.NAME_ROOM || strings.ContainsRune(j.Name+j.Temp, 0) {
		return syscall.ENAMETOOLONG
	}
	asked, free := time.Now(), e.free
	if j.Op.Light() && e.options.Light > 0 {
		free = e.light
	}
	place := <-free
	t := &e.tasks[place]
	t.since = asked
	e.loadJob(place, j)
	e.running.Add(1)
	e.pushes <- place
	<-t.done
	return e.finish(place, j)
}

func (e *Engine) Room() fileio.Room { return fileio.RoomFor(e.options.Threads, e.options.Light) }

// releasePlace returns a place to its kind. The first places are for data.
func (e *Engine) releasePlace(place int) {
	if place < cap(e.free) {
		e.free <- place
	} else {
		e.light <- place
	}
}

// loadJob copies a job into C's memory. The job's data stays where it is, pinned until no
// thread can use it any longer.
func (e *Engine) loadJob(place int, j *fileio.Job) {
	c := &e.jobs[place]
	*c = C.job{
		op: C.int(j.Op), folder: C.int(j.Folder), file: C.int(j.File),
		size: C.size_t(len(j.Data)), offset: C.int64_t(j.Offset),
	}
	if j.Op.Light() {
		c.light = 1
	}
	if j.Sync {
		c.sync = 1
	}
	copyName(&c.name, j.Name)
	copyName(&c.temp, j.Temp)
	if len(j.Data) > 0 {
		data := &j.Data[0]
		e.tasks[place].pins.Pin(data)
		c.data = unsafe.Pointer(data)
	}
}

// copyName copies a name that fits and contains no zero byte.
func copyName(to *[C.NAME_ROOM]C.char, name string) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(to)), C.NAME_ROOM), name)
}

// finish copies the results of a job and releases its place.
func (e *Engine) finish(place int, j *fileio.Job) error {
	c, t := &e.jobs[place], &e.tasks[place]
	j.File, j.N = int(c.file), int(c.n)
	j.Info = fileio.Entry{Size: int64(c.file_size), Inode: uint64(c.inode)}
	if c.seconds != 0 || c.nanoseconds != 0 {
		j.Info.Changed = time.Unix(int64(c.seconds), int64(c.nanoseconds))
	}
	if c.names != nil {
		text := C.GoStringN(c.names, C.int(c.names_size))
		C.free(unsafe.Pointer(c.names))
		j.Names = strings.FieldsFunc(text, func(r rune) bool { return r == 0 })
	}
	var err error
	if c.err != 0 {
		err = syscall.Errno(c.err)
	}
	service := time.Duration(c.ended - c.began)
	e.service.Add(int64(service))
	e.wait.Add(int64(max(0, time.Since(t.since)-service)))
	e.done.Add(1)
	e.running.Add(-1)
	t.pins.Unpin()
	e.releasePlace(place)
	return err
}

// batchMax is how many jobs go to or come from the crew in one call. A call into C that waits
// for the crew's lock holds one of Go's threads, so only one goroutine makes such calls.
const batchMax = 64

// submitJobs passes jobs to the crew. One goroutine does so for all callers: many calls into C
// would each hold a thread while waiting for the crew's lock.
func (e *Engine) submitJobs() {
	places := make([]C.int, 0, batchMax)
	for place := range e.pushes {
		places = append(places[:0], C.int(place))
		for more := true; more && len(places) < batchMax; {
			select {
			case place, more = <-e.pushes:
				if more {
					places = append(places, C.int(place))
				}
			default:
				more = false
			}
		}
		C.crew_push(e.crew, &places[0], C.int(len(places)))
	}
}

// collectDone wakes the callers whose jobs are done. It waits in the runtime's poller and
// holds no thread.
func (e *Engine) collectDone() {
	var count [8]byte
	for {
		if _, err := e.event.Read(count[:]); err != nil {
			return // closed
		}
		for e.collectBatch() {
		}
	}
}

// collectBatch collects up to batchMax done jobs. It returns false if no more are waiting.
func (e *Engine) collectBatch() bool {
	var places [batchMax]C.int
	n := int(C.crew_take(e.crew, &places[0], batchMax))
	for _, p := range places[:n] {
		place := int(p)
		t := &e.tasks[place]
		t.done <- struct{}{}
	}
	return n == batchMax
}

func (e *Engine) Stats() fileio.Stats {
	waiting := int(C.crew_waiting(e.crew))
	return fileio.Stats{
		Threads: e.options.Threads + e.options.Light,
		Waiting: waiting, Running: max(0, int(e.running.Load())-waiting),
		Done: e.done.Load(),
		Wait: time.Duration(e.wait.Load()), Service: time.Duration(e.service.Load()),
	}
}

func (e *Engine) Close() error {
	close(e.pushes)
	e.submitting.Wait()
	C.crew_stop(e.crew)
	err := e.event.Close()
	e.collecting.Wait()
	for i := range e.tasks {
		e.tasks[i].pins.Unpin()
	}
	C.crew_free(e.crew)
	return err
}
