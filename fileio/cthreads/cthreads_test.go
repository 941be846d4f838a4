//go:build linux && cgo

package cthreads_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/test/kits/enginetest"
)

func start(t *testing.T, o cthreads.Options) *cthreads.Engine {
	t.Helper()
	e, err := cthreads.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEngine(t *testing.T) {
	of := map[string]cthreads.Options{"several": {Threads: 4, Light: 2, Affinity: true}}
	if os.Getenv("MUSTER_LONG") != "" {
		of["one thread"] = cthreads.Options{Threads: 1}
	}
	for name, o := range of {
		t.Run(name, func(t *testing.T) {
			enginetest.Run(t, func(t *testing.T) fileio.Engine { return start(t, o) })
		})
	}
}

// Each thread belongs to this process and, with Affinity, is bound to a processor.
func TestThreads(t *testing.T) {
	for _, affinity := range []bool{false, true} {
		e := start(t, cthreads.Options{Threads: 3, Light: 2, Affinity: affinity})
		threads := e.Threads()
		if len(threads) != 5 {
			t.Fatalf("%d threads", len(threads))
		}
		ids := map[int]bool{}
		for i, th := range threads {
			ids[th.ID] = true
			if th.Light != (i >= 3) || (th.CPU >= 0) != affinity {
				t.Errorf("%+v", th)
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", th.ID))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("Cpus_allowed_list:\t%d\n", th.CPU); affinity && !strings.Contains(string(status), want) {
				t.Errorf("%+v is not bound: %s", th, status)
			}
		}
		if len(ids) != 5 {
			t.Errorf("%+v", threads)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []cthreads.Options{{}, {Threads: -1}, {Threads: fileio.ThreadsMax + 1}, {Threads: 1, Light: -1}} {
		if e, err := cthreads.New(o); err == nil {
			t.Errorf("%+v is no error: %v", o, e.Close())
		}
	}
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

// A job on a name is executed however many jobs transfer data.
func TestNamesBesideData(t *testing.T) {
	e := start(t, cthreads.Options{Threads: 1, Light: 1})
	defer e.Close()
	in := folder(t)
	ctx, enough := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for who := range 4 { // more jobs than places
		writers.Go(func() {
			data := make([]byte, 1<<20)
			for ctx.Err() == nil {
				j := fileio.Job{Op: fileio.OpPut, Folder: in, Name: fmt.Sprint(who), Temp: fmt.Sprintf("~%d", who), Data: data}
				if err := e.Do(&j); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 500 {
		if err := e.Do(&fileio.Job{Op: fileio.OpStat, Folder: in, Name: "none"}); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
			break
		}
	}
	enough()
	writers.Wait()
}

// A name that does not fit is refused, and never truncated to another file's name.
func TestLongName(t *testing.T) {
	e := start(t, cthreads.Options{Threads: 1})
	defer e.Close()
	in := folder(t)
	for _, name := range []string{strings.Repeat("x", 256), "a\x00b"} {
		if err := e.Do(&fileio.Job{Op: fileio.OpStat, Folder: in, Name: name}); !errors.Is(err, syscall.ENAMETOOLONG) {
			t.Errorf("%d bytes: %v", len(name), err)
		}
	}
}
