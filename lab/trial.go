package lab

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
	"muster/lab/probe"
	"muster/lab/results"
)

// A trial is one figure of the plan and how it is measured: by this program, or by a contestant
// ([contestant.trial]).
type trial struct {
	Name     string        // of the benchmark, without "Benchmark"
	Estimate time.Duration // rough duration of one measurement

	Question probe.Question // for this program; nil = a contestant's trial
	Words    []string       // of the question
	Helper   probe.Question // the command of this program that measures it follows Words; nil = none
	Procs    int            // GOMAXPROCS; 0 = Go's default, or the contestant is not in Go
	Foreign  bool           // a failure is a result and does not end the run, as with contestants

	// If a measurement would take longer than EachMax, the trial is left out; 0 = no limit. The
	// estimate follows from the first figure of Smaller, a trial of fewer operations, and from the
	// number of operations Ops. Without that figure it is Estimate.
	EachMax time.Duration
	Smaller string
	Ops     int

	Times     int // measurements, if fewer than Count suffice; 0 = Count
	Processes int // probes that run at the same time behind a gate; 0 = one probe without a gate

	Folder   bool   // pass an empty folder with -dir, and remove it afterwards
	FolderIn string // parent of that folder; "" = the system's folder for temporary files

	command []string
	dir     string // working folder
}

// trialMax bounds one measurement. A longer one counts as endless.
const trialMax = 15 * time.Minute

// run makes one measurement. It returns the sample, or the reason for its absence.
func (t *trial) run(ctx context.Context) (results.Sample, string, error) {
	limited, cancel := context.WithTimeout(ctx, trialMax)
	defer cancel()
	s, why, err := t.execute(limited)
	switch {
	case ctx.Err() != nil: // the error of a killed process is irrelevant
		return results.Sample{}, "", ctx.Err()
	case limited.Err() != nil:
		return results.Sample{}, results.NeverEnds, nil
	case err != nil && t.Foreign:
		return results.Sample{}, results.Failed + strings.Join(strings.Fields(err.Error()), " "), nil
	case err != nil:
		return results.Sample{}, "", fmt.Errorf("%s: %w", t.Name, err)
	}
	s.Name = t.Name
	return s, why, nil
}

func (t *trial) execute(ctx context.Context) (s results.Sample, why string, err error) {
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

func (t *trial) runAlone(ctx context.Context, more ...string) (s results.Sample, why string, err error) {
	c := t.cmd(ctx, more...)
	var output, failed probe.FirstBytes
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
		return results.Sample{}, "", failed.Explain(err)
	}
	s, err = results.ParseLine(string(output.Bytes))
	return s, "", failed.Explain(err)
}

// cmd returns the trial's command with more arguments. It removes the caller's GOMAXPROCS,
// which would change the figures without a trace in the results.
func (t *trial) cmd(ctx context.Context, more ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, t.command[0], append(t.command[1:len(t.command):len(t.command)], more...)...)
	c.Dir = t.dir
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

// processesMax bounds the processes that run at the same time.
const processesMax = 256

// runTogether runs the trial's probe in several processes at the same time. The figures are
// those of all processes together: elapsed time and CPU time per operation. The clock starts
// when all processes are ready.
func (t *trial) runTogether(ctx context.Context) (results.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which also kills the processes
	var all []*probe.PipedProcess
	for range t.Processes {
		g, err := probe.StartPiped(t.cmd(ctx, "-"+probe.Gate))
		if err != nil {
			return results.Sample{}, err
		}
		defer func() { cancel(); _ = g.Cmd.Wait() }()
		all = append(all, g)
	}
	for _, g := range all {
		if line, _ := g.Out.ReadString('\n'); line != probe.Ready+"\n" {
			cancel()
			return results.Sample{}, explainGated(g, fmt.Errorf("a process printed %q instead of %q", results.Excerpt(line), probe.Ready))
		}
	}
	began := time.Now()
	for _, g := range all {
		g.In.Close()
	}
	var n int
	var wall, cpu float64 // ns
	for _, g := range all {
		line, _ := g.Out.ReadString('\n') // a line without a line break fails to parse
		wall = float64(time.Since(began))
		s, err := results.ParseLine(line)
		if err != nil {
			cancel()
			return results.Sample{}, explainGated(g, err)
		}
		each, _ := s.Value(results.CPUPerOp)
		n += s.N
		cpu += each * float64(s.N)
	}
	return results.Sample{N: n, Values: []results.Value{{Unit: results.NsPerOp, Figure: wall / float64(n)}, {Unit: results.CPUPerOp, Figure: cpu / float64(n)}}}, nil
}

// explainGated adds the process's error message to err, after the process has ended.
func explainGated(g *probe.PipedProcess, err error) error {
	_ = g.Cmd.Wait()
	return g.Failed.Explain(err)
}
