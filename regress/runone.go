package regress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/regress/host"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// RunOne runs one case, by its name, in the folder keep, which stays as the
// case leaves it: work, home and tmp, and the streams beside them; of an engine's run
// work and the streams, as the engine gave them back. It prints how the case ended, where
// all that is and, unless an engine ran it, how the case is run by hand there.
func RunOne(ctx context.Context, o Options, h host.Host, caseName, keep string) (err error) {
	if err := completeFromGolden(ctx, &o, h); err != nil {
		return err
	}
	o.Limits.Jobs = 1
	s, err := open(ctx, &o, h, runCommand)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	t, err := s.in.Find(caseName)
	if err != nil {
		return err
	}
	if err := s.exec.Connect(ctx, s.crewOptions()); err != nil {
		return err
	}
	if err := s.resolve(); err != nil {
		return err
	}
	run := runHere
	if s.exec.Crew.IsRemote() {
		run = runRemotely
	}
	r, line, err := run(ctx, s, t, keep)
	if err != nil {
		return err
	}
	defer r.Release()
	if err := keepStreams(keep, r); err != nil {
		return err
	}
	return s.tellKept(keep, line, r)
}

// runHere runs a case in the folder keep. The returned line runs the case again by hand.
func runHere(ctx context.Context, s *session, t pass.Task, keep string) (r *exec.Result, line string, err error) {
	r, err = s.runUndecorated(ctx, t, keep)
	return r, byHand(s.exec.Commands.For(t.Entry.Name), t.Entry.Name), err
}

// runRemotely runs a case on an engine, and lays out in the folder keep what the engine
// returned. No line runs the case by hand: the command is a path of the workers.
func runRemotely(ctx context.Context, s *session, t pass.Task, keep string) (r *exec.Result, line string, err error) {
	if err := makeKept(keep); err != nil {
		return nil, "", err
	}
	if r, err = s.runUndecorated(ctx, t, keep); err != nil {
		return nil, "", err
	}
	if err := s.layOut(keep, *t.Entry, r); err != nil {
		r.Release()
		return nil, "", err
	}
	return r, "", nil
}

// runUndecorated runs a case. No part of its result is ignored: people look at all of them.
func (s *session) runUndecorated(ctx context.Context, t pass.Task, keep string) (*exec.Result, error) {
	setup := s.setup(s.lanesForCases())
	setup.Keep = keep
	if err := s.exec.StartPlain(ctx, setup); err != nil {
		return nil, err
	}
	return s.exec.Executor.Run(ctx, exec.Job{Source: *t.Entry, Command: s.exec.Commands.For(t.Entry.Name), Avoid: exec.NoLane})
}

// keepStreams writes the streams beside the case's folders. The case could write
// there too: what it left under their names is neither followed nor opened.
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

// tellKept tells of a run, and the line by which it is run again by hand; "" = it is not,
// for an engine's command is a path of its workers.
func (s *session) tellKept(keep, line string, r *exec.Result) error {
	work := filepath.Join(keep, "work")
	text := fmt.Sprintf("%s; %s\nwork folder  %s\nstreams      %s, %s\n", r.Outcome.Ending, s.figures(r),
		work, filepath.Join(keep, "stdout"), filepath.Join(keep, "stderr"))
	if line != "" {
		text += fmt.Sprintf("by hand      cd %s && %s\n", name.Quote(work), line)
	}
	_, err := io.WriteString(s.host.Stdout, text)
	return err
}

// figures says in a line what a run took.
func (s *session) figures(r *exec.Result) string {
	if r.Engine != nil {
		return report.EngineWords(r.Engine)
	}
	peak := fmt.Sprintf("%d KiB", r.Cost.PeakRSS)
	if r.Cost.PeakRSS <= s.exec.Executor.Floor() {
		peak = fmt.Sprintf("≤ %d KiB (the floor of what can be told)", s.exec.Executor.Floor())
	}
	return fmt.Sprintf("CPU %v, wall %v, peak memory %s", r.Cost.CPU.Round(10*time.Microsecond), r.Cost.Wall.Round(10*time.Microsecond), peak)
}
