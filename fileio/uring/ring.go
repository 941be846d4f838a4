//go:build linux

package uring

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A ring hands calls to the kernel. Each comes from a place of its own, of which there are
// no more than entries, so that neither queue is ever full.
type ring struct {
	kernel kernel
	fd     int // -1 = there is none

	rings, entries []byte // memory that is shared with the kernel
	sqHead, sqTail *uint32
	sqes           []sqe // of which only submit writes
	cqHead, cqTail *uint32
	cqes           []cqe // of which only reap reads

	calls  chan sqe
	event  *os.File // can be read when calls are done
	places []*place

	submits, reaps sync.WaitGroup
}

// startRing makes a ring with its places.
func startRing(k kernel, places []*place) (*ring, error) {
	r := &ring{kernel: k, fd: -1, places: places, calls: make(chan sqe, len(places))}
	opened := make(chan error)
	r.submits.Go(func() {
		// The kernel has threads, and the bound on them, for each thread that hands over;
		// so it is always the same one, which ends with the goroutine, and they with it.
		runtime.LockOSThread()
		err := r.open(len(places))
		if err != nil {
			r.giveBack()
		}
		opened <- err
		if err == nil {
			r.submit()
		}
	})
	if err := <-opened; err != nil {
		r.submits.Wait()
		return nil, err
	}
	for number, p := range places {
		p.ring, p.number = r, uint64(number)
	}
	r.reaps.Go(r.reap)
	return r, nil
}

// stop ends a ring that has nothing to do any longer.
func (r *ring) stop() error {
	close(r.calls)
	r.submits.Wait()
	err := r.event.Close()
	r.reaps.Wait()
	return errors.Join(err, r.unmap(), unix.Close(r.fd))
}

// submit hands over what there is, all at once.
func (r *ring) submit() {
	tail := *r.sqTail
	put := func(call sqe) {
		r.sqes[tail&uint32(len(r.sqes)-1)] = call
		tail++
	}
	for call := range r.calls {
		put(call)
		for more := true; more; {
			select {
			case call, more = <-r.calls:
				if more {
					put(call)
				}
			default:
				more = false
			}
		}
		tail = r.enter(tail)
	}
}

// retryAfter is for when the kernel has no memory for a call.
const retryAfter = time.Millisecond

// enter returns when the kernel has taken all up to tail, and where the next one goes.
func (r *ring) enter(tail uint32) uint32 {
	atomic.StoreUint32(r.sqTail, tail)
	for {
		head := atomic.LoadUint32(r.sqHead)
		if head == tail {
			return tail
		}
		_, err := r.kernel.enter(r.fd, tail-head)
		switch err {
		case nil, unix.EINTR:
		case unix.EAGAIN, unix.EBUSY:
			time.Sleep(retryAfter)
		default:
			return r.refuse(head, tail, err)
		}
	}
}

// refuse answers what the kernel will not take; the next calls take their entries.
func (r *ring) refuse(head, tail uint32, err error) uint32 {
	errno, ok := err.(unix.Errno)
	if !ok {
		errno = unix.EIO
	}
	for at := head; at != tail; at++ {
		r.places[r.sqes[at&uint32(len(r.sqes)-1)].user].done <- -int32(errno)
	}
	return head
}

// reap tells those who wait that their calls are done. It waits in the runtime's poller,
// without a thread.
func (r *ring) reap() {
	var count [8]byte
	for {
		if _, err := r.event.Read(count[:]); err != nil {
			return // closed
		}
		head := *r.cqHead
		for ; head != atomic.LoadUint32(r.cqTail); head++ {
			c := r.cqes[head&uint32(len(r.cqes)-1)]
			atomic.StoreUint32(r.cqHead, head+1)
			r.places[c.user].done <- c.res
		}
	}
}
