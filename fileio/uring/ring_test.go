//go:build linux

package uring

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"muster/fileio"
)

// If io_uring lacks something, New returns the reason and leaves no descriptor open.
func TestUnavailable(t *testing.T) {
	works := systemKernel()
	if e, err := start(Options{Threads: 1}, works); err == nil {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	} else if os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	} else {
		t.Fatal(err)
	}
	setupFails := func(err error) func(*kernel) {
		return func(k *kernel) { k.setup = func(uint32, *params) (int, error) { return -1, err } }
	}
	registerFails := func(which uintptr, err error) func(*kernel) {
		return func(k *kernel) {
			k.register = func(fd int, op uintptr, arg unsafe.Pointer, n uintptr) error {
				if op == which {
					return err
				}
				return works.register(fd, op, arg, n)
			}
		}
	}
	for want, spoil := range map[string]func(*kernel){
		"not permitted":    setupFails(unix.EPERM),
		"too many open":    setupFails(unix.EMFILE),
		"invalid argument": registerFails(registerMaxWorkers, unix.EINVAL),
	} {
		k := works
		spoil(&k)
		before := descriptors(t)
		e, err := start(Options{Threads: 2, Light: 1}, k)
		if err == nil {
			t.Errorf("%s: is no error: %v", want, e.Close())
		} else if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if after := descriptors(t); after != before {
			t.Errorf("%s: %d descriptors were open, and %d are", want, before, after)
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// When a ring fails to start, New ends the rings that have started.
func TestSecondRingFails(t *testing.T) {
	k := systemKernel()
	var rings atomic.Int64
	k.setup = func(entries uint32, p *params) (int, error) {
		if rings.Add(1) > 1 {
			return -1, unix.EMFILE
		}
		return setup(entries, p)
	}
	before := descriptors(t)
	if e, err := start(Options{Threads: 4, Light: 1}, k); err == nil {
		t.Error("is no error", e.Close())
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors were open, and %d are", before, after)
	}
}

// startOn starts an engine, and skips the test if io_uring is unavailable.
func startOn(t *testing.T, o Options, k kernel) *Engine {
	t.Helper()
	e, err := start(o, k)
	if errors.Is(err, ErrUnavailable) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The kernel accepts each call exactly once, even if it is interrupted, lacks memory for a
// while, or accepts only a part.
func TestEnterThatFailsNowAndThen(t *testing.T) {
	k := systemKernel()
	var entered atomic.Int64
	k.enter = func(fd int, submit uint32) (int, error) {
		switch entered.Add(1) % 5 {
		case 1:
			return 0, unix.EINTR
		case 2:
			return 0, unix.EAGAIN
		case 3:
			return 0, unix.EBUSY
		case 4:
			return enter(fd, 1)
		}
		return enter(fd, submit)
	}
	e := startOn(t, Options{Threads: 8}, k)
	putAndGet(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// putAndGet has several goroutines write and read files.
func putAndGet(t *testing.T, e *Engine) {
	t.Helper()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var callers sync.WaitGroup
	for who := range 16 {
		callers.Go(func() {
			for n := range 5 {
				name, data := fmt.Sprint(who), bytes.Repeat([]byte{byte(who), byte(n)}, 5_000)
				put := fileio.Job{Op: fileio.OpPut, Folder: int(dir.Fd()), Name: name, Temp: "~" + name, Data: data}
				get := fileio.Job{Op: fileio.OpGet, Folder: int(dir.Fd()), Name: name, Data: make([]byte, 20_000)}
				if err := errors.Join(e.Do(&put), e.Do(&get)); err != nil || !bytes.Equal(get.Data[:get.N], data) {
					t.Errorf("%s has %d bytes, %v", name, get.N, err)
				}
			}
		})
	}
	callers.Wait()
}

// A call that the kernel refuses fails the job that made it. Later jobs succeed once the
// kernel accepts calls again.
func TestEnterThatFails(t *testing.T) {
	k := systemKernel()
	var broken atomic.Bool
	k.enter = func(fd int, submit uint32) (int, error) {
		if broken.Load() {
			return 0, unix.EBADR
		}
		return enter(fd, submit)
	}
	e := startOn(t, Options{Threads: 4, Light: 1}, k)
	putAndGet(t, e)
	broken.Store(true)
	for _, op := range []fileio.Op{fileio.OpPut, fileio.OpGet, fileio.OpStat} {
		if err := e.Do(&fileio.Job{Op: op, Folder: unix.AT_FDCWD, Name: "x", Temp: "~x"}); !errors.Is(err, unix.EBADR) {
			t.Error(err)
		}
	}
	broken.Store(false)
	putAndGet(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
