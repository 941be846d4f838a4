package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/lab/native"
)

// A trial is one figure of the plan: what is started for it.
type trial struct {
	name     string // that of the benchmark, without the prefix
	command  []string
	dir      string
	procs    int           // GOMAXPROCS; 0 = none, the contestant is not in Go
	estimate time.Duration // of one measurement, roughly

	do   func(context.Context) (Sample, absence, error) // instead of a command; nil mostly
	most int                                            // measurements that tell all there is; 0 = as many as are asked for

	processes int // at the same time, of a probe that waits at a gate; 0 = one, without a gate

	folder   bool   // it writes files: into an empty folder, by -dir, which is gone afterwards
	folderIn string // where that folder is; "" = where the system has temporary files
}

// trialMax bounds one measurement: what takes longer is said not to end.
const trialMax = 15 * time.Minute

// An outcome of a trial that gave no figure.
type absence string

const (
	noSuchMode absence = "has no such mode"
	neverEnds  absence = "does not end"
	refused    absence = "the system gives no more"
)

// run starts the trial once. It returns its line's number of operations and its values by
// unit, or why there is none.
func (t *trial) run(ctx context.Context) (Sample, absence, error) {
	limited, cancel := context.WithTimeout(ctx, trialMax)
	defer cancel()
	s, why, err := t.start(limited)
	switch {
	case ctx.Err() != nil: // and what the process said then was of its end
		return Sample{}, "", ctx.Err()
	case limited.Err() != nil:
		return Sample{}, neverEnds, nil
	case err != nil:
		return Sample{}, "", fmt.Errorf("%s: %w", t.name, err)
	}
	s.Name = t.name
	return s, why, nil
}

func (t *trial) start(ctx context.Context) (s Sample, why absence, err error) {
	if t.do != nil {
		return t.do(ctx)
	}
	if t.processes > 0 {
		s, err = t.runTogether(ctx)
		return s, "", err
	}
	if !t.folder {
		return t.runAlone(ctx)
	}
	// Not by the process itself, which may be killed.
	dir, err := os.MkdirTemp(t.folderIn, "muster-lab-")
	if err != nil {
		return Sample{}, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return t.runAlone(ctx, "-dir", dir)
}

func (t *trial) runAlone(ctx context.Context, more ...string) (s Sample, why absence, err error) {
	c := t.cmd(ctx, more...)
	var said, failed firstBytes
	c.Stdout, c.Stderr = &said, &failed
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		switch exit.ExitCode() {
		case native.StatusNoSuchMode:
			return Sample{}, noSuchMode, nil
		case native.StatusDeadlock:
			return Sample{}, neverEnds, nil
		case native.StatusNoMore:
			return Sample{}, refused, nil
		}
	}
	if err != nil {
		return Sample{}, "", failed.explain(err)
	}
	s, err = parseLine(string(said.bytes))
	return s, "", failed.explain(err)
}

// cmd is the trial's command, not started, with more arguments. Where GOMAXPROCS is not
// what is measured, it is Go's own: the caller's would be in the figures, and nothing
// would say so.
func (t *trial) cmd(ctx context.Context, more ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, t.command[0], append(t.command[1:len(t.command):len(t.command)], more...)...)
	c.Dir = t.dir
	c.Env = environWithout("GOMAXPROCS")
	if t.procs > 0 {
		c.Env = append(c.Env, "GOMAXPROCS="+strconv.Itoa(t.procs))
	}
	ownGroup(c)
	return c
}

// ownGroup makes a command that is not started a process group of its own: an interrupt
// from the keyboard reaches this process alone, which ends the group, and so knows why.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
}

// environWithout is this process's environment without some variables.
func environWithout(names ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}

// firstBytes keeps the beginning of what is written to it: a result is a line, and what
// went wrong stands before the stacks.
type firstBytes struct{ bytes []byte }

const keptBytesMax = 64 << 10

func (f *firstBytes) Write(p []byte) (int, error) {
	f.bytes = append(f.bytes, p[:min(len(p), keptBytesMax-len(f.bytes))]...)
	return len(p), nil
}

// explain adds to an error what the process said of it.
func (f *firstBytes) explain(err error) error {
	line, _, _ := strings.Cut(strings.TrimSpace(string(f.bytes)), "\n")
	if err == nil || line == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, excerpt(line))
}

// parseLine reads a line of Go's benchmarks.
func parseLine(text string) (Sample, error) {
	fields := strings.Fields(text)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], prefix) {
		return Sample{}, fmt.Errorf("%q is no line of a benchmark", excerpt(text))
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil || n < 1 {
		return Sample{}, fmt.Errorf("%q is no line of a benchmark: %q is no number of operations", excerpt(text), excerpt(fields[1]))
	}
	s := Sample{Name: strings.TrimPrefix(fields[0], prefix), N: n}
	for pair := range slices.Chunk(fields[2:], 2) {
		v, err := strconv.ParseFloat(pair[0], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Sample{}, fmt.Errorf("%q is no line of a benchmark: %q is no figure", excerpt(text), excerpt(pair[0]))
		}
		s.Values = append(s.Values, Value{pair[1], v})
	}
	return s, nil
}

// excerpt is enough of a text to know it by.
func excerpt(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
