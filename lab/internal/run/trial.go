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

// A Trial is one figure of the plan and the command that measures it. [Plan.Probe] and
// [Peer.Trial] create trials.
type Trial struct {
	Name     string        // of the benchmark, without "Benchmark"
	Estimate time.Duration // rough duration of one measurement

	Command []string
	Dir     string // working folder
	Procs   int    // GOMAXPROCS; 0 = Go's default, or the contestant is not in Go

	Do func(context.Context) (s results.Sample, why string, err error) // replaces Command; usually nil

	Times     int // measurements, if fewer than Count suffice; 0 = Count
	Processes int // probes that run at the same time behind a gate; 0 = one probe without a gate

	Folder   bool   // pass an empty folder with -dir, and remove it afterwards
	FolderIn string // parent of that folder; "" = the system's folder for temporary files

	peer bool // a contestant's trial: a failure is a result
}

// trialMax bounds one measurement. A longer one counts as endless.
const trialMax = 15 * time.Minute

// run makes one measurement. It returns the sample, or the reason for its absence.
func (t *Trial) run(ctx context.Context) (results.Sample, string, error) {
	limited, cancel := context.WithTimeout(ctx, trialMax)
	defer cancel()
	s, why, err := t.execute(limited)
	switch {
	case ctx.Err() != nil: // the error of a killed process is irrelevant
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

func (t *Trial) execute(ctx context.Context) (s results.Sample, why string, err error) {
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
	// The process cannot remove the folder itself if it is killed.
	dir, err := os.MkdirTemp(t.FolderIn, "muster-lab-")
	if err != nil {
		return results.Sample{}, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return t.runAlone(ctx, "-dir", dir)
}

func (t *Trial) runAlone(ctx context.Context, more ...string) (s results.Sample, why string, err error) {
	c := t.cmd(ctx, more...)
	var output, failed firstBytes
	c.Stdout, c.Stderr = &output, &failed
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
	s, err = results.ParseLine(string(output.bytes))
	return s, "", failed.explain(err)
}

// cmd returns the trial's command with more arguments. It removes the caller's GOMAXPROCS,
// which would change the figures without a trace in the results.
func (t *Trial) cmd(ctx context.Context, more ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, t.Command[0], append(t.Command[1:len(t.Command):len(t.Command)], more...)...)
	c.Dir = t.Dir
	c.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GOMAXPROCS=") })
	if t.Procs > 0 {
		c.Env = append(c.Env, "GOMAXPROCS="+strconv.Itoa(t.Procs))
	}
	// A group of its own receives no interrupt from the keyboard. Only this process does; it
	// kills the group, and so knows the cause.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
}

// firstBytes keeps the beginning of its input: a result is one line, and an error precedes the
// stacks.
type firstBytes struct{ bytes []byte }

const keptBytesMax = 64 << 10

func (f *firstBytes) Write(p []byte) (int, error) {
	f.bytes = append(f.bytes, p[:min(len(p), keptBytesMax-len(f.bytes))]...)
	return len(p), nil
}

// explain adds the first line of the process's output to an error.
func (f *firstBytes) explain(err error) error {
	line, _, _ := strings.Cut(strings.TrimSpace(string(f.bytes)), "\n")
	if err == nil || line == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, results.Excerpt(line))
}
