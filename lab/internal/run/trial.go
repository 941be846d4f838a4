package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/lab/native"
	"muster/lab/results"
)

// A Trial is one figure of the plan: what is started for it. [Plan.Probe] and [Peer.Trial]
// make them.
type Trial struct {
	Name     string        // that of the benchmark, without the prefix
	Estimate time.Duration // of one measurement, roughly

	Command []string
	Dir     string // to run it in
	Procs   int    // GOMAXPROCS; 0 = Go's own, or the contestant is not in Go

	Do func(context.Context) (s results.Sample, why string, err error) // instead of a command; nil mostly

	Times     int // measurements that tell all there is; 0 = as many as are asked for
	Processes int // at the same time, of a probe that waits at a gate; 0 = one, without a gate

	Folder   bool   // it writes files: into an empty folder, by -dir, which is gone afterwards
	FolderIn string // where that folder is; "" = where the system has temporary files

	peer bool // a contestant's: that it fails is a result of its own
}

// trialMax bounds one measurement: what takes longer is said not to end.
const trialMax = 15 * time.Minute

// run starts the trial once. It returns its sample, or why there is none.
func (t *Trial) run(ctx context.Context) (results.Sample, string, error) {
	limited, cancel := context.WithTimeout(ctx, trialMax)
	defer cancel()
	s, why, err := t.start(limited)
	switch {
	case ctx.Err() != nil: // and what the process said then was of its end
		return results.Sample{}, "", ctx.Err()
	case limited.Err() != nil:
		return results.Sample{}, results.NeverEnds, nil
	case err != nil && t.peer:
		return results.Sample{}, results.Failed + strings.Join(strings.Fields(err.Error()), " "), nil
	case err != nil:
		return results.Sample{}, "", fmt.Errorf("%s: %w", t.Name, err)
	}
	s.Name = t.Name
	return s, why, nil
}

func (t *Trial) start(ctx context.Context) (s results.Sample, why string, err error) {
	if t.Do != nil {
		return t.Do(ctx)
	}
	if t.Processes > 0 {
		s, err = t.runTogether(ctx)
		return s, "", err
	}
	if !t.Folder {
		return t.runAlone(ctx)
	}
	// Not by the process itself, which may be killed.
	dir, err := os.MkdirTemp(t.FolderIn, "muster-lab-")
	if err != nil {
		return results.Sample{}, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return t.runAlone(ctx, "-dir", dir)
}

func (t *Trial) runAlone(ctx context.Context, more ...string) (s results.Sample, why string, err error) {
	c := t.cmd(ctx, more...)
	var said, failed firstBytes
	c.Stdout, c.Stderr = &said, &failed
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		switch exit.ExitCode() {
		case native.StatusNoSuchMode:
			return results.Sample{}, results.NoSuchMode, nil
		case native.StatusDeadlock:
			return results.Sample{}, results.NeverEnds, nil
		case native.StatusNoMore:
			return results.Sample{}, results.Refused, nil
		}
	}
	if err != nil {
		return results.Sample{}, "", failed.explain(err)
	}
	s, err = results.ParseLine(string(said.bytes))
	return s, "", failed.explain(err)
}

// cmd is the trial's command, not started, with more arguments. Where GOMAXPROCS is not
// what is measured, it is Go's own: the caller's would be in the figures, and nothing
// would say so.
func (t *Trial) cmd(ctx context.Context, more ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, t.Command[0], append(t.Command[1:len(t.Command):len(t.Command)], more...)...)
	c.Dir = t.Dir
	c.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GOMAXPROCS=") })
	if t.Procs > 0 {
		c.Env = append(c.Env, "GOMAXPROCS="+strconv.Itoa(t.Procs))
	}
	// In a group of its own: an interrupt from the keyboard reaches this process alone,
	// which ends the group, and so knows why.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
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
	return fmt.Errorf("%w: %s", err, results.Excerpt(line))
}
