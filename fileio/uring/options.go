// Package uring executes jobs by io_uring of Linux. Goroutines ask for one system call after
// another and wait on a channel. Kernel threads wait for the disk. Options bound their number. Waiting goroutines hold no threads. If the system has no io_uring or forbids
// it, New returns an error and the caller chooses another engine.
//
// Transfers have one ring, and jobs on names may have another. More rings for transfers were slower: on two processors
// a get from page cache took 20 µs with one ring and 55 µs with two. With fewer calls at a time, the submitting threads
// are woken more often.
//
// Each ring has two goroutines. One submits the calls of all jobs, many at a time. The other
// learns of completed calls through a descriptor in the runtime's poller. Only this package
// touches memory shared with the kernel. It must not know of what a job consists.
package uring

import "errors"

// Options configure an engine.
type Options struct {
	Threads int // kernel threads for transfers: 1 or more
	Light   int // kernel threads for jobs on names; 0 = transfers' threads execute them
}

// ErrUnavailable is the error of New if the system has no io_uring with the required
// operations. The error that New returns also explains why.
var ErrUnavailable = errors.New("io_uring cannot be used here")
