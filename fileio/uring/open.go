//go:build linux

package uring

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// open creates the ring, for up to calls concurrent calls. It must run on the thread that will
// submit them, because the kernel's worker threads belong to that thread.
func (r *ring) open(calls int) error {
	var p params
	fd, err := r.kernel.setup(uint32(calls), &p)
	if err != nil {
		return unavailable(err)
	}
	r.fd = fd
	// Allow one worker for each concurrent call. The second number bounds the workers for calls
	// on non-files. They have nothing to do, but the kernel does not accept 0.
	workers := [2]uint32{uint32(calls), 1}
	if err := r.kernel.register(fd, registerMaxWorkers, unsafe.Pointer(&workers), 2); err != nil {
		return unavailable(err) // Linux before 5.15, which may also lack calls that make up jobs
	}
	return errors.Join(r.mapMemory(&p), r.openEvent())
}

func unavailable(err error) error {
	return fmt.Errorf("%w: it needs Linux 5.15, sysctl kernel.io_uring_disabled=0, a container that allows it, and locked memory (ulimit -l): %w", ErrUnavailable, err)
}

const sizeOfSQE, sizeOfCQE = int(unsafe.Sizeof(sqe{})), int(unsafe.Sizeof(cqe{}))

// mapMemory maps the memory shared with the kernel. It holds no Go objects.
func (r *ring) mapMemory(p *params) (err error) {
	size := max(int(p.sq.array)+4*int(p.sqEntries), int(p.cq.cqes)+sizeOfCQE*int(p.cqEntries))
	const access, how = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	if r.rings, err = unix.Mmap(r.fd, offsetRings, size, access, how); err != nil {
		return err
	}
	if r.entries, err = unix.Mmap(r.fd, offsetEntries, sizeOfSQE*int(p.sqEntries), access, how); err != nil {
		return err
	}
	word := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[offset])) }
	r.sqHead, r.sqTail, r.cqHead, r.cqTail = word(p.sq.head), word(p.sq.tail), word(p.cq.head), word(p.cq.tail)
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&r.entries[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&r.rings[p.cq.cqes])), p.cqEntries)
	for i, numbers := 0, unsafe.Slice(word(p.sq.array), p.sqEntries); i < len(numbers); i++ {
		numbers[i] = uint32(i) // entries are used in their order
	}
	return nil
}

// openEvent makes the kernel write to a descriptor when calls are done.
func (r *ring) openEvent() error {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	r.event = os.NewFile(uintptr(fd), "event")
	number := int32(fd)
	return r.kernel.register(r.fd, registerEventfd, unsafe.Pointer(&number), 1)
}

func (r *ring) unmap() error {
	var errs []error
	for _, memory := range [][]byte{r.entries, r.rings} {
		if memory != nil {
			errs = append(errs, unix.Munmap(memory))
		}
	}
	return errors.Join(errs...)
}

// release frees a ring that could not be opened completely.
func (r *ring) release() {
	_ = r.unmap()
	if r.event != nil {
		_ = r.event.Close()
	}
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
	}
}
