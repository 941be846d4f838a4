//go:build linux

package uring_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/uring"
	"muster/test/kits/enginetest"
)

// start starts an engine, and skips the test if io_uring is unavailable.
func start(t testing.TB, o uring.Options) *uring.Engine {
	t.Helper()
	e, err := uring.New(o)
	if errors.Is(err, uring.ErrUnavailable) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEngine(t *testing.T) {
	of := map[string]uring.Options{"two rings": {Threads: 7, Light: 3}}
	if os.Getenv("MUSTER_LONG") != "" {
		of["one thread"], of["several"] = uring.Options{Threads: 1}, uring.Options{Threads: 4, Light: 2}
	}
	for name, o := range of {
		t.Run(name, func(t *testing.T) {
			enginetest.Run(t, func(t *testing.T) fileio.Engine { return start(t, o) })
		})
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []uring.Options{
		{}, {Threads: -1}, {Threads: fileio.ThreadsMax + 1}, {Threads: 1, Light: -1},
	} {
		if e, err := uring.New(o); err == nil {
			t.Errorf("%+v is no error: %v", o, e.Close())
		} else if errors.Is(err, uring.ErrUnavailable) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// However many jobs wait for the disk, the kernel uses no more threads than Options allow,
// over all rings, and Go uses only a few.
func TestThreads(t *testing.T) {
	for name, o := range map[string]uring.Options{
		"one": {Threads: 1}, "two rings": {Threads: 5, Light: 2},
	} {
		t.Run(name, func(t *testing.T) {
			for kernels, _ := countThreads(t); kernels > 0; kernels, _ = countThreads(t) {
				// Threads of closed engines end with a delay.
				runtime.Gosched()
			}
			e := start(t, o)
			in := folder(t)
			var callers sync.WaitGroup
			stop := make(chan struct{})
			for who := range 100 {
				callers.Go(func() {
					for n := range 3 {
						j := fileio.Job{Op: fileio.OpPut, Folder: in, Name: fmt.Sprint(who), Temp: fmt.Sprint("~", who), Data: enginetest.Content(who, 50_000), Sync: n == 0}
						stat := fileio.Job{Op: fileio.OpStat, Folder: in, Name: fmt.Sprint(who)}
						if err := errors.Join(e.Do(&j), e.Do(&stat)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			go func() { callers.Wait(); close(stop) }()
			most, mostAll := 0, 0
			for done := false; !done; {
				select {
				case <-stop:
					done = true
				default:
				}
				kernels, all := countThreads(t)
				most, mostAll = max(most, kernels), max(mostAll, all)
			}
			if bound := o.Threads + o.Light; most > bound || most == 0 {
				t.Errorf("%d threads of the kernel's; %d are the bound", most, bound)
			}
			// Go itself has one thread per processor and a few idle ones.
			if bound := e.Stats().Threads + runtime.GOMAXPROCS(0) + 20; mostAll > bound {
				t.Errorf("%d threads in all; %d are the bound", mostAll, bound)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// countThreads counts this process's threads: the kernel's workers for io_uring, and all.
func countThreads(t *testing.T) (kernels, all int) {
	t.Helper()
	names, err := filepath.Glob("/proc/self/task/*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		all++
		if strings.HasPrefix(string(text), "iou-wrk-") {
			kernels++
		}
	}
	return kernels, all
}

// folder returns the descriptor of a folder for jobs.
func folder(t *testing.T) int {
	t.Helper()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return int(dir.Fd())
}

// A name that does not fit is refused, and never truncated to another file's name.
func TestLongName(t *testing.T) {
	e := start(t, uring.Options{Threads: 1})
	defer e.Close()
	in := folder(t)
	for name, want := range map[string]error{strings.Repeat("x", 256): syscall.ENAMETOOLONG, "a\x00b": syscall.EINVAL, strings.Repeat("x", 255): fs.ErrNotExist} {
		for _, op := range []fileio.Op{fileio.OpStat, fileio.OpGet, fileio.OpDelete, fileio.OpCommit} {
			j := fileio.Job{Op: op, Folder: in, Name: name, Temp: "~"}
			if err := e.Do(&j); !errors.Is(err, want) {
				t.Errorf("%d bytes: %v", len(name), err)
			}
		}
	}
}
