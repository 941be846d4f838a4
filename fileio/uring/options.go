// Package uring executes jobs by io_uring of Linux. Goroutines ask for one system call after
// another and wait on a channel. Kernel threads wait for the disk. Options bound their number
// over all rings. Waiting goroutines hold no threads. If the system has no io_uring or forbids
// it, New returns an error and the caller chooses another engine.
//
// Each ring has two goroutines. One submits the calls of all jobs, many at a time. The other
// learns of completed calls through a descriptor in the runtime's poller. Only this package
// touches memory shared with the kernel. It must not know of what a job consists.
package uring

import (
	"cmp"
	"errors"
	"fmt"

	"muster/fileio"
)

// Options configure an engine.
type Options struct {
	Threads int // kernel threads for transfers: 1 or more
	Light   int // kernel threads for jobs on names; 0 = transfers' threads execute them

	// Rings is how many rings serve transfers; 0 = 1. Each has a part of the threads, and one
	// further thread that submits. An engine never has more rings than Threads. Jobs on names
	// have their own ring.
	//
	// Use more rings on machines with many processors if one thread cannot submit fast enough.
	// On two processors a get from page cache takes 20 µs with one ring and 55 µs with two.
	// With fewer calls at a time, the submitting threads are woken more often.
	Rings int
}

const (
	RingsMax     = 64
	ringsDefault = 1
)

func (o *Options) check() error {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return err
	}
	if o.Rings < 0 || o.Rings > RingsMax {
		return fmt.Errorf("%d rings: from 1 to %d are possible, and 0 for the default", o.Rings, RingsMax)
	}
	o.Rings = cmp.Or(o.Rings, ringsDefault)
	o.Rings = min(o.Rings, o.Threads)
	return nil
}

// ErrUnavailable is the error of New if the system has no io_uring with the required
// operations. The error that New returns also explains why.
var ErrUnavailable = errors.New("io_uring cannot be used here")
