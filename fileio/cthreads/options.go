// Package cthreads executes jobs on threads that C code starts, as in the article of 2021.
// Go's runtime does not know these threads, so none of its own waits for a disk. The package
// needs Linux and cgo. Without them New fails. It is the only package with C code.
//
// Goroutines do not call C themselves: many goroutines that wait there for a lock would each
// hold one of Go's threads, and the engine would need more threads than no engine at all. One
// goroutine passes on the jobs of all callers, many at a time. Another one collects the done
// jobs. It learns of them through a descriptor that the runtime's poller watches.
package cthreads

import "errors"

// Options configure an engine.
type Options struct {
	Threads int // 1 or more
	Light   int // additional threads for jobs on names, which precede other jobs on all threads

	// Affinity binds each thread to one of the processors that this process may use.
	Affinity bool
}

// Thread describes a thread of the system.
type Thread struct {
	ID    int  // the system's thread id
	CPU   int  // the processor to which it is bound; -1 = not bound
	Light bool // it executes only jobs on names
}

// ErrNotBuiltIn is the error of New if the program was built without cgo or not for Linux.
var ErrNotBuiltIn = errors.New("threads in C are not part of this build: choose another engine, such as pool, or build muster from source on Linux, with CGO_ENABLED=1 and a C compiler")
