//go:build linux

package uring

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// needed is what a job is made of.
var needed = map[uint8]string{
	opFsync: "fsync", opOpenat: "openat", opClose: "close", opStatx: "statx",
	opRead: "read", opWrite: "write", opRenameat: "renameat", opUnlinkat: "unlinkat",
}

// open makes the ring, for so many calls at a time. Its thread must be the one that will
// hand over: the kernel's threads belong to that one.
func (r *ring) open(calls int) error {
	var p params
	fd, err := r.kernel.setup(uint32(calls), &p)
	if err != nil {
		return unavailable(err)
	}
	r.fd = fd
	if p.features&(featSingleMmap|featNoDrop|featNativeWorkers) != featSingleMmap|featNoDrop|featNativeWorkers {
		return fmt.Errorf("%w: that of this kernel is older than Linux 5.12", ErrUnavailable)
	}
	if err := r.probe(); err != nil {
		return err
	}
	// As many as there are calls at a time. The second number is of threads for what is no
	// file: there is nothing for them to do, and that there be none cannot be said.
	workers := [2]uint32{uint32(calls), 1}
	if err := r.kernel.register(fd, registerMaxWorkers, unsafe.Pointer(&workers), 2); err != nil {
		return fmt.Errorf("%w: the number of its threads cannot be bounded, which takes Linux 5.15: %w", ErrUnavailable, err)
	}
	return errors.Join(r.mapMemory(&p), r.openEvent())
}

// probe asks whether all calls that are needed can be made.
func (r *ring) probe() error {
	var p probe
	if err := r.kernel.register(r.fd, registerProbe, unsafe.Pointer(&p), uintptr(len(p.ops))); err != nil {
		return fmt.Errorf("%w: it does not tell what it can do: %w", ErrUnavailable, err)
	}
	for op, name := range needed {
		if op > p.lastOp || p.ops[op].flags&opSupported == 0 {
			return fmt.Errorf("%w: it has no %s", ErrUnavailable, name)
		}
	}
	return nil
}

// unavailable says why there is no ring.
func unavailable(err error) error {
	why := ""
	switch {
	case errors.Is(err, unix.ENOSYS):
		why = "; the kernel has none, or a sandbox hides it"
	case errors.Is(err, unix.EPERM):
		why = "; a sandbox forbids it, as that of Docker"
		if text, e := os.ReadFile("/proc/sys/kernel/io_uring_disabled"); e == nil && strings.TrimSpace(string(text)) != "0" {
			why = "; kernel.io_uring_disabled is " + strings.TrimSpace(string(text))
		}
	case errors.Is(err, unix.ENOMEM):
		why = "; the limit on locked memory (ulimit -l) may be too low"
	}
	return fmt.Errorf("%w: io_uring_setup: %w%s", ErrUnavailable, err, why)
}

const sizeOfSQE, sizeOfCQE = int(unsafe.Sizeof(sqe{})), int(unsafe.Sizeof(cqe{}))

// mapMemory maps what is shared with the kernel. Nothing there is Go's.
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

// openEvent has the kernel write to a descriptor when calls are done.
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

// giveBack is for a ring that could not be opened.
func (r *ring) giveBack() {
	_ = r.unmap()
	if r.event != nil {
		_ = r.event.Close()
	}
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
	}
}
