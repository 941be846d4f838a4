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

// A ring passes calls to the kernel. Each call comes from its own place. A ring has no more
// places than entries, so neither queue is ever full.
type ring struct {
	kernel kernel
	fd     int // -1 = not open

	rings, entries []byte // memory shared with the kernel
	sqHead, sqTail *uint32
	sqes           []sqe // only submit writes them
	cqHead, cqTail *uint32
	cqes           []cqe // only reap reads them

	calls  chan sqe
	event  *os.File // readable when calls are done
	places []*place

	submits, reaps sync.WaitGroup
}

// startRing creates a ring with its places.
func startRing(k kernel, places []*place) (*ring, error) {
	r := &ring{kernel: k, fd: -1, places: places, calls: make(chan sqe, len(places))}
	opened := make(chan error)
	r.submits.Go(func() {
		// The kernel's worker threads and their limit belong to the submitting thread. So
		// always submit from one locked thread. It ends with the goroutine, and so do they.
		runtime.LockOSThread()
		err := r.open(len(places))
		if err != nil {
			r.release()
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

// stop ends an idle ring.
func (r *ring) stop() error {
	close(r.calls)
	r.submits.Wait()
	err := r.event.Close()
	r.reaps.Wait()
	return errors.Join(err, r.unmap(), unix.Close(r.fd))
}

// submit passes all queued calls to the kernel, many at a time.
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

// retryAfter is the pause when the kernel lacks memory for a call.
const retryAfter = time.Millisecond

// enter returns when the kernel has accepted all calls up to tail. It returns the position of
// the next call.
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
			return r.answerRefused(head, tail, err)
		}
	}
}

// answerRefused answers the calls that the kernel does not accept. The next calls reuse their
// entries.
func (r *ring) answerRefused(head, tail uint32, err error) uint32 {
	errno, ok := err.(unix.Errno)
	if !ok {
		errno = unix.EIO
	}
	for at := head; at != tail; at++ {
		r.places[r.sqes[at&uint32(len(r.sqes)-1)].user].done <- -int32(errno)
	}
	return head
}

// reap delivers the results of completed calls. It waits in the runtime's poller and holds no
// thread.
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
