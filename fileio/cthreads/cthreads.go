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
	jobs    []C.job // in C's memory
	tasks   []task  // of the same places

	// Places that nobody has: jobs about names alone have some of their own, if they have
	// threads, so that data does not take them all.
	free, light chan int
	pushes      chan int // places of jobs on their way to the crew
	event       *os.File // can be read when jobs are done

	pushed, taken sync.WaitGroup // the two goroutines that speak with the crew

	running, done atomic.Int64
	wait, service atomic.Int64
}

// A task is what Go knows of the job of a place.
type task struct {
	since time.Time
	done  chan struct{} // gets one when the job is done
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
		e.leave(i)
	}
	e.pushed.Go(e.push)
	e.taken.Go(e.take)
	return e, nil
}

// Threads tells of each thread of the system that executes jobs.
func (e *Engine) Threads() []Thread {
	threads := make([]Thread, e.options.Threads+e.options.Light)
	for i := range threads {
		var id, cpu C.int
		C.crew_thread(e.crew, C.int(i), &id, &cpu)
		threads[i] = Thread{ID: int(id), CPU: int(cpu), Light: i >= e.options.Threads}
	}
	return threads
}

// Do is that of fileio.Engine.
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
	e.fill(place, j)
	e.running.Add(1)
	e.pushes <- place
	<-t.done
	return e.finish(place, j)
}

// Room is that of fileio.Engine.
func (e *Engine) Room() fileio.Room { return fileio.RoomFor(e.options.Threads, e.options.Light) }

// leave gives a place back to those of its kind: the first ones are for data.
func (e *Engine) leave(place int) {
	if place < cap(e.free) {
		e.free <- place
	} else {
		e.light <- place
	}
}

// fill copies a job into C's memory. Its data stays where it is, and is pinned there until
// no thread can use it any longer.
func (e *Engine) fill(place int, j *fileio.Job) {
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

// copyName copies a name that fits, and has no 0 in it.
func copyName(to *[C.NAME_ROOM]C.char, name string) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(to)), C.NAME_ROOM), name)
}

// finish copies what came of a job, and gives its place back.
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
	e.leave(place)
	return err
}

// batchMax is how many jobs go to the crew, or come from it, in one call: a call into C
// that has to wait for the crew's lock keeps a thread of Go's, and there is one such.
const batchMax = 64

// push hands jobs to the crew: one goroutine for all, for each that called into C by
// itself would hold a thread while it waits for the crew's lock.
func (e *Engine) push() {
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

// take tells those who wait that their jobs are done. It waits in the runtime's poller,
// without a thread.
func (e *Engine) take() {
	var count [8]byte
	for {
		if _, err := e.event.Read(count[:]); err != nil {
			return // closed
		}
		for e.takeSome() {
		}
	}
}

// takeSome takes a batch; false when there is nothing more.
func (e *Engine) takeSome() bool {
	var places [batchMax]C.int
	n := int(C.crew_take(e.crew, &places[0], batchMax))
	for _, p := range places[:n] {
		place := int(p)
		t := &e.tasks[place]
		t.done <- struct{}{}
	}
	return n == batchMax
}

// Stats is that of fileio.Engine.
func (e *Engine) Stats() fileio.Stats {
	waiting := int(C.crew_waiting(e.crew))
	return fileio.Stats{
		Threads: e.options.Threads + e.options.Light,
		Waiting: waiting, Running: max(0, int(e.running.Load())-waiting),
		Done: e.done.Load(),
		Wait: time.Duration(e.wait.Load()), Service: time.Duration(e.service.Load()),
	}
}

// Close is that of fileio.Engine.
func (e *Engine) Close() error {
	close(e.pushes)
	e.pushed.Wait()
	C.crew_stop(e.crew)
	err := e.event.Close()
	e.taken.Wait()
	for i := range e.tasks {
		e.tasks[i].pins.Unpin()
	}
	C.crew_free(e.crew)
	return err
}
