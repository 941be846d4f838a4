// Package reduce shrinks a source of a past check to the smallest one that still shows a cause. Two
// commands run on each attempt: that of the check, and a trusted one.
//
// Input: the name of a cause or a case. Output: the reduced source in the state folder, and a text on
// the standard output of the host. The package must not write to a golden.
package reduce

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/run"
	"muster/regress/internal/shrink"
)

// Run finds a small source that still shows a cause, and no other cause than before. It writes
// the source into the state folder, and prints what it is and how to run it. If ctx ends
// early, it writes the smallest source so far, and returns an error of class Interrupted.
func Run(ctx context.Context, o regress.Options, h host.Host, r Options) (err error) {
	if r.Status == nil {
		r.Status = func(string) {}
	}
	if r.TestsMax < 0 || r.TimeMax < 0 {
		return fault.Inputf("--tests-max and --time-max must not be negative")
	}
	p, err := pastrun.OpenLast(&o, h, r.Run)
	if err != nil {
		return err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return err
	}
	target, err := goal.Find(ctx, p, found, r.Target)
	if err != nil {
		return err
	}
	s, err := goal.OpenAgain(ctx, p, &o, h, job.ReduceCommand, []string{target.Name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t, err := newTrial(ctx, p, s, found, target, r.Reference)
	if err != nil {
		return err
	}
	into := resultFolder{s.State.Reduced(p.Run.ID), s.Inputs, givenMax}
	return (&reducing{trial: t, run: s, how: r, result: &printer{t, s, p, target, r, time.Now(), into}}).reduce(ctx)
}

// reducing is a reduction under way.
type reducing struct {
	trial  *trial
	run    *run.Run
	how    Options
	result *printer
	shown  time.Time // when the status was printed last
	own    []byte    // the case's own source
}

// startsMax is how often the case's own source runs at the start, to find out whether it is flaky.
const startsMax = 2

func (d *reducing) reduce(ctx context.Context) error {
	if err := d.begin(ctx); err != nil {
		return err
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if d.how.TimeMax > 0 {
		bounded, cancel = context.WithTimeout(ctx, d.how.TimeMax)
	}
	defer cancel()
	r, err := shrink.Reduce(bounded, d.own, shrink.Options{
		Lanes: d.lanes(), TestsMax: d.how.TestsMax, Progress: d.progress,
	}, d.trial.test)
	if err != nil && bounded.Err() == nil {
		_, unwritten := d.result.folder.write(*d.trial.task.Entry, r.Source)
		return errors.Join(err, unwritten) // the machine's
	}
	return d.result.conclude(ctx, d.own, r)
}

func (d *reducing) lanes() int { return max(1, d.run.Width().Goroutines) }

// begin starts the crew and runs the case's own source on it.
func (d *reducing) begin(ctx context.Context) (err error) {
	if d.own, err = d.run.Inputs.Read(*d.trial.task.Entry); err != nil {
		return err
	}
	if err := d.startBoth(ctx, d.run.Job.Limits.Timeout); err != nil {
		return err
	}
	var slowest time.Duration
	for n := range startsMax {
		s, err := d.trial.observe(ctx, d.own, n > 0)
		if err != nil {
			return err
		}
		s.release()
		if !d.trial.keeps(s) {
			return d.notShown()
		}
		slowest = max(slowest, s.was.Cost.Wall, s.is.Cost.Wall)
		d.trial.start = &facts{s.was.Outcome.Ending, s.is.Outcome.Ending, s.Explanation}
	}
	return d.hurry(ctx, slowest)
}

// startBoth starts a crew for both commands, which ends a run after timeout.
func (d *reducing) startBoth(ctx context.Context, timeout time.Duration) error {
	setup := d.run.Setup()
	setup.Timeout = timeout
	setup.Lanes = d.lanes()
	setup.Commands = append(setup.Commands, d.trial.reference)
	return d.run.Execution.Start(ctx, setup)
}

// A smaller source may run for ever: a loop without its end. It is stopped after patienceFactor times
// the duration of the case's own source, and not before leastTime.
const (
	patienceFactor = 20
	leastTime      = 5 * time.Second
)

// patience returns how long a trial may take, by the limit of the run and by how long the case's own
// source took.
func patience(limit, slowest time.Duration) time.Duration {
	return min(limit, max(leastTime, patienceFactor*slowest))
}

// hurry starts the crew again with a shorter time limit, unless the case itself exceeds that of the run.
func (d *reducing) hurry(ctx context.Context, slowest time.Duration) error {
	limit := patience(d.run.Job.Limits.Timeout, slowest)
	if limit == d.run.Job.Limits.Timeout || d.trial.start.was.Partial() || d.trial.start.is.Partial() {
		return nil
	}
	if err := d.run.Execution.Stop(); err != nil {
		return err
	}
	return d.startBoth(ctx, limit)
}

// notShown returns the error that the case's own source does not always show the cause.
func (d *reducing) notShown() error {
	why := "its run of now does not show " + d.trial.causeNames()
	if d.trial.start != nil {
		why = "it does not show " + d.trial.causeNames() + " each time it runs"
	}
	return fault.Inputf("%s: %s: the command or the reference is another than in run %s (name the trusted one with --ref), or it is flaky: run muster %s again",
		name.Print(d.result.goal.Name), why, d.result.past.Run.ID, d.result.past.Run.Command)
}

// statusEvery is how often the status is shown.
const statusEvery = 100 * time.Millisecond

func (d *reducing) progress(p shrink.Progress) {
	now := time.Now()
	if now.Sub(d.shown) < statusEvery {
		return
	}
	d.shown = now
	left := ""
	if d.how.TimeMax > 0 {
		left = fmt.Sprintf(" of at most %v", d.how.TimeMax)
	}
	d.how.Status(fmt.Sprintf("%s → %s, %s, %s%s; round %d: %s, %.0f %%",
		readable.Number(len(d.own)), readable.Count(p.Size, "byte"), readable.Count(p.Tests, "test"), readable.Duration(now.Sub(d.result.began)), left, p.Round, p.Pass, 100*p.Part))
}
