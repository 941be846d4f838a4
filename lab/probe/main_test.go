package probe_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"muster/lab/probe"
)

// Arguments that turn the test binary into another process.
const (
	childArgument   = "block-threads" // runs out of threads
	waitingArgument = "waiting"       // its goroutines wait, and nothing ran before
	serveArgument   = "serve"         // serves uploads, by an engine, in a folder
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childArgument {
		limit, err := strconv.Atoi(os.Args[2])
		if err == nil {
			err = probe.BlockThreads(limit, os.Stdin, os.Stdout)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) == 3 && os.Args[1] == waitingArgument {
		count, err := strconv.Atoi(os.Args[2])
		w := probe.Waiting(count)
		fmt.Println(w.Start.N, w.Start.Wall.Nanoseconds(), w.Stack, w.Sys, w.Resident)
		if err != nil {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == serveArgument {
		o := probe.ServeOptions{Dir: os.Args[3], Engine: probe.EngineOptions{Name: os.Args[2], Threads: 2}}
		if err := probe.Serve(context.Background(), o, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// self returns the command of such a process.
func self(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}
