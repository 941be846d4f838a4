// Package runone runs one case and keeps its folder, so that a person can look at it. Input: options
// and the name of a case. Output: the folder, and a text on the standard output of the host.
//
// It must not compare the outcome, nor write to a golden or a state folder.
package runone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// Run runs the case of that name in a folder, and leaves the folder as the case left it. The
// folder then has work, home and tmp, and the two streams. If an engine ran the case, it has
// only work and the streams. Run prints how the case ended, where the folder is, and how to run
// the case there by hand, unless an engine ran it.
func Run(ctx context.Context, o regress.Options, h host.Host, caseName, keep string) (err error) {
	recorded, err := place.Recorded(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return err
	}
	if recorded != nil {
		recorded.Selection = golden.Selection{} // the case may be outside of it
	}
	o.Limits.Jobs = 1
	j, err := job.Resolve(o, recorded, job.RunCommand)
	if err != nil {
		return err
	}
	s, err := run.Open(ctx, j, h, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t, err := s.Inputs.Find(caseName)
	if err != nil {
		return err
	}
	if err := s.ResolveCommands(ctx); err != nil {
		return err
	}
	command, isRemote := s.Execution.Commands.For(t.Entry.Name), s.Execution.Crew.IsRemote()
	if isRemote {
		if err := makeKept(keep); err != nil {
			return err
		}
	}
	r, err := runUndecorated(ctx, s, t, command, keep)
	if err != nil {
		return err
	}
	defer r.Release()
	line := "" // no line runs the case by hand where the command is a path of the workers
	if isRemote {
		err = layOut(keep, s.Inputs.Corpus, *t.Entry, r)
	} else {
		line = byHand(command, t.Entry.Name)
	}
	if err != nil {
		return err
	}
	if err := keepStreams(keep, r); err != nil {
		return err
	}
	return printKept(h.Stdout, keep, line, costOf(r, s.Execution.Executor.Floor()), r.Outcome.Ending)
}

// runUndecorated runs a case. No part of its result is ignored: people look at all of them.
func runUndecorated(ctx context.Context, s *run.Run, t pass.Task, command *exec.Command, keep string) (*exec.Result, error) {
	setup := s.Setup()
	setup.Keep = keep
	if err := s.Execution.StartPlain(ctx, setup); err != nil {
		return nil, err
	}
	return exec.Run(ctx, s.Execution.Executor, exec.Job{Source: *t.Entry, Command: command, Avoid: exec.NoLane})
}

// keepStreams writes the streams beside the case's folders. The case could write there too, so
// keepStreams neither follows nor opens what it left under their names.
func keepStreams(keep string, r *exec.Result) error {
	root, err := os.OpenRoot(keep)
	if err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	defer root.Close()
	for _, p := range r.Outcome.Parts {
		if p.Place == outcome.File {
			continue
		}
		b, err := content.ReadAll(r.Open, p)
		if err == nil {
			err = errors.Join(root.RemoveAll(p.Key.String()), root.WriteFile(p.Key.String(), b, 0o644))
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", p.Key, err)
		}
	}
	return nil
}

// byHand is the shell line that runs a case in its work folder.
func byHand(c *exec.Command, caseName string) string {
	line := name.QuoteAll(c.Args(caseName))
	if c.Stdin {
		line += " < " + name.Quote(caseName)
	}
	return line
}

// printKept prints how a run ended, what it cost, and where its files are. line is the shell
// line that runs the case by hand. It is empty for a run on an engine, where the command is a
// path on the workers.
func printKept(w io.Writer, keep, line, cost string, ended regress.Ending) error {
	work := filepath.Join(keep, "work")
	text := fmt.Sprintf("%s; %s\nwork folder  %s\nstreams      %s, %s\n", ended, cost,
		work, filepath.Join(keep, "stdout"), filepath.Join(keep, "stderr"))
	if line != "" {
		text += fmt.Sprintf("by hand      cd %s && %s\n", name.Quote(work), line)
	}
	_, err := io.WriteString(w, text)
	return err
}

// costOf describes the cost of a run in a line. floor is the least peak memory that can be
// measured, in KiB.
func costOf(r *exec.Result, floor int64) string {
	if r.Engine != nil {
		return report.EngineWords(r.Engine)
	}
	peak := readable.BinarySize(r.Cost.PeakRSS << 10)
	if r.Cost.PeakRSS <= floor {
		peak = "≤ " + readable.BinarySize(floor<<10) + " (the smallest peak that can be measured)"
	}
	return fmt.Sprintf("CPU %v, wall %v, peak memory %s", r.Cost.CPU.Round(10*time.Microsecond), r.Cost.Wall.Round(10*time.Microsecond), peak)
}
