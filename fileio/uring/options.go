// Package uring executes jobs by io_uring of Linux: goroutines ask for one system call after
// another and wait for its end as for a channel, and threads of the kernel's wait for the
// disk. There are as many of these as it is told, for all rings together, and none that a
// goroutine holds. Where the system has no io_uring, or forbids it, New says so, and its
// caller takes another engine.
//
// A ring has a goroutine that hands over what all want, many calls at a time, and one that
// learns of those that are done by a descriptor in the runtime's poller. All that is done
// with the kernel's memory is in this package, and nothing of what a job consists of.
package uring

import (
	"errors"
	"fmt"

	"muster/fileio"
)

// Options of an engine.
type Options struct {
	Threads int // of the kernel's, for transfers: 1 or more
	Light   int // for names alone; 0 = they go with the transfers

	// Rings is how many there are for transfers: each has its part of the threads, and takes
	// one thread more, which hands over. 0 = 1; there are never more than Threads. Jobs about
	// names have a ring of their own.
	//
	// More are for machines with many processors, where handing over is what one thread
	// cannot do fast enough. On two processors a get from page cache takes 20 µs with one
	// ring and 55 µs with two: with fewer calls at a time, the threads that hand over are
	// woken more often.
	Rings int
}

// Bounds of Options.
const (
	ThreadsMax = fileio.ThreadsMax // of either kind
	RingsMax   = 64
)

const ringsDefault = 1

func (o *Options) check() error {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return err
	}
	if o.Rings < 0 || o.Rings > RingsMax {
		return fmt.Errorf("%d rings: from 1 to %d are possible, and 0 for as many as most want", o.Rings, RingsMax)
	}
	if o.Rings == 0 {
		o.Rings = ringsDefault
	}
	o.Rings = min(o.Rings, o.Threads)
	return nil
}

// ErrUnavailable is the error of New where there is no io_uring that does what is needed;
// the error that New returns also says why.
var ErrUnavailable = errors.New("io_uring cannot be used here")
