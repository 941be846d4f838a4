// Package cthreads executes jobs on threads that C code starts, as the article of 2021 did:
// Go's runtime does not know of them, so that none of its own waits for a disk. It needs
// Linux and cgo; without them New says so. It is the only package with C in it.
//
// Goroutines do not call into C themselves. Where many do, and wait for a lock there, each
// holds a thread of Go's, and there are more threads than without such an engine. One
// goroutine hands over what all want, many jobs at a time; another one takes what is done,
// of which it learns by a descriptor that the runtime's poller watches.
package cthreads

import (
	"errors"

	"muster/fileio"
)

// Options of an engine.
type Options struct {
	Threads int // 1 or more
	Light   int // more threads, for jobs about names alone; those go before others everywhere

	// Affinity binds each thread to one of the processors that this process may use.
	Affinity bool
}

// ThreadsMax bounds either number of threads.
const ThreadsMax = fileio.ThreadsMax

// Thread is one of the system's.
type Thread struct {
	ID    int  // as the system counts them
	CPU   int  // that it is bound to; -1 = to none
	Light bool // it executes jobs about names alone
}

// ErrNotBuiltIn is the error of New where the program was built without cgo, or not for
// Linux.
var ErrNotBuiltIn = errors.New("threads in C are not built in: build with CGO_ENABLED=1, on Linux, or choose another engine")
