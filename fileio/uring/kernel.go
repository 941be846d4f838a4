//go:build linux

package uring

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The parts of linux/io_uring.h that this package uses.

const (
	opFsync    = 3
	opOpenat   = 18
	opClose    = 19
	opStatx    = 21
	opRead     = 22
	opWrite    = 23
	opRenameat = 35
	opUnlinkat = 36

	sqeAsync      = 1 << 4 // a kernel thread makes the call; the submitting thread does not try it
	fsyncDatasync = 1

	registerEventfd    = 4
	registerMaxWorkers = 19

	offsetRings   = 0
	offsetEntries = 0x10000000
)

// params is io_uring_params.
type params struct {
	sqEntries, cqEntries             uint32
	flags, sqThreadCPU, sqThreadIdle uint32
	features, wqFD                   uint32
	_                                [3]uint32
	sq                               sqOffsets
	cq                               cqOffsets
}

type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, _ uint32
	_                                                   uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, _ uint32
	_                                                   uint64
}

// sqe is io_uring_sqe: a submitted call.
type sqe struct {
	opcode, flags uint8
	_             uint16
	fd            int32
	off           uint64 // or a second address
	addr          uint64
	len           uint32
	opFlags       uint32
	user          uint64 // returned in the cqe
	_             [3]uint64
}

// cqe is io_uring_cqe: a completed call.
type cqe struct {
	user  uint64
	res   int32 // the return value, or -errno
	flags uint32
}

// kernel holds the three system calls of io_uring. Tests replace them.
type kernel struct {
	setup    func(entries uint32, p *params) (fd int, err error)
	register func(fd int, op uintptr, arg unsafe.Pointer, n uintptr) error
	enter    func(fd int, submit uint32) (submitted int, err error)
}

func systemKernel() kernel {
	return kernel{setup, register, enter}
}

func setup(entries uint32, p *params) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func register(fd int, op uintptr, arg unsafe.Pointer, n uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(fd), op, uintptr(arg), n, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func enter(fd int, submit uint32) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(fd), uintptr(submit), 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
