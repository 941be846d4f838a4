// Package probe measures one question about concurrency, once, in this process. Questions are
// the cost of a task on a pool, an item through a channel, a goroutine, a file operation, a
// log line, a lock or a wake-up. File operations run alone, through an engine or through a
// service. [Exhaust] and the server of [Upload] run in a process of their own.
//
// For reliable figures, run each probe in a fresh process, many times, in turns with others.
// The package must not repeat, average, judge or print.
package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
	"muster/pool"
)

// Names of package fileio's engines.
const (
	Direct   = "direct"
	Pool     = "pool"
	CThreads = "cthreads"
	URing    = "uring"
)

// Engines returns all names. The engine without a bound on threads is first.
func Engines() []string { return []string{Direct, Pool, CThreads, URing} }

// EngineOptions select the engine that executes file operations.
type EngineOptions struct {
	Name    string
	Threads int  // 1 or more; Direct ignores it and has a thread for each operation
	Bound   bool // pins each thread to a processor; only CThreads can
}

func (o EngineOptions) open() (fileio.Engine, error) {
	if o.Bound && o.Name != CThreads {
		return nil, fmt.Errorf("engine %q cannot bind threads to processors: use %q", o.Name, CThreads)
	}
	switch o.Name {
	case Direct:
		return &direct.Engine{}, nil
	case Pool:
		return pooled.New(pooled.Options{Threads: o.Threads})
	case CThreads:
		return cthreads.New(cthreads.Options{Threads: o.Threads, Affinity: o.Bound})
	case URing:
		return uring.New(uring.Options{Threads: o.Threads})
	}
	return nil, fmt.Errorf("unknown engine %q: use one of %q", o.Name, Engines())
}

// CheckAvailable returns the reason why this machine cannot run the engine, or nil.
func (o EngineOptions) CheckAvailable() error {
	e, err := o.open()
	if err != nil {
		return err
	}
	return e.Close()
}

// KeptBytesMax bounds the output of a process that is kept.
const KeptBytesMax = 64 << 10

// FirstBytes keeps the beginning of its input: a result is one line, and an error precedes the
// stacks. The stacks of thousands of goroutines take megabytes.
type FirstBytes struct{ Bytes []byte }

func (f *FirstBytes) Write(p []byte) (int, error) {
	f.Bytes = append(f.Bytes, p[:min(len(p), KeptBytesMax-len(f.Bytes))]...)
	return len(p), nil
}

// A PipedProcess is a process whose standard streams are pipes of this one.
type PipedProcess struct {
	Cmd    *exec.Cmd
	In     io.Closer     // closing it ends the standard input
	Out    *bufio.Reader // up to KeptBytesMax of the standard output
	Failed FirstBytes    // of the standard error
}

// StartPiped starts a process.
func StartPiped(c *exec.Cmd) (*PipedProcess, error) {
	p := &PipedProcess{Cmd: c}
	c.Stderr = &p.Failed
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.In, p.Out = in, bufio.NewReader(io.LimitReader(out, KeptBytesMax))
	return p, c.Start()
}

// firstLines returns the text before the first empty line, which separates the message from
// the stacks.
func firstLines(output []byte) string {
	head, _, _ := strings.Cut(string(output), "\n\n")
	return strings.TrimSpace(head)
}

// WorkersOptions configures [Workers].
type WorkersOptions struct {
	Workers int
	Tasks   int
	Roots   int           // square roots of each task: its computation
	Wait    time.Duration // wait of each task after that, as for a disk or a network
}

// Workers measures tasks that compute and then wait, on a pool.
func Workers(o WorkersOptions) (Cost, error) {
	if o.Workers < 1 || o.Tasks < 1 || o.Roots < 0 || o.Wait < 0 {
		return Cost{}, errors.New("workers and tasks must be 1 or more, roots and wait 0 or more")
	}
	p := pool.New(o.Workers, func(from int) {
		_ = roots(o.Roots, from)
		if o.Wait > 0 {
			time.Sleep(o.Wait)
		}
	})
	defer p.Close()
	submit(p, min(o.Tasks, o.Workers))
	return measure(o.Tasks, func(n int) { submit(p, n) }), nil
}
