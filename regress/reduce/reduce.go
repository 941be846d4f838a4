// Package reduce shrinks a source of a past check as long as it still shows a cause. Two commands run
// on each candidate: that of the check, and a trusted one.
//
// It writes the reduced source to the state folder, and must not write to a golden.
package reduce

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/host"
	"muster/regress/internal/cause"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/opt"
	"muster/regress/internal/pass"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/shrink"
	"muster/regress/internal/turns"
)

// Reduction says what to make smaller, and how far to go.
type Reduction struct {
	Target    string        // the ID of a cause, or the name of a case
	Run       string        // ID of the run, or its beginning; "" = the last
	Reference []string      // command that is trusted; nil = the one that the run compared with
	TestsMax  int           // 0 = no limit
	TimeMax   time.Duration // 0 = no limit
	Status    func(string)  // shows how far it is, and before results nothing; may be nil
}

// TimeDefault is the program's limit of the time for a reduction.
const TimeDefault = 10 * time.Minute

// Run finds a small source that still shows a cause, and no other than before, writes
// it into the state folder, and prints what it is and how to run it. When ctx ends it does
// so with the smallest that it has found by then, and returns an error of class Interrupted.
func Run(ctx context.Context, o opt.Options, h host.Host, r Reduction) (err error) {
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
	return (&reducing{trial: t, run: s, past: p, goal: target, how: r, began: time.Now(), given: givenMax}).reduce(ctx)
}

// newTrial makes ready what tests the sources.
func newTrial(ctx context.Context, p *pastrun.Past, s *run.Run, found *cause.Found, target goal.Goal, reference []string) (t *trial, err error) {
	if err := s.Connect(ctx); err != nil {
		return nil, err
	}
	if err := s.ResolveCommands(); err != nil {
		return nil, err
	}
	t = &trial{exec: s.Execution, rules: s.Job.Rules, task: pass.Task{Index: 0, Entry: &s.Inputs.Cases[0]}, causes: found.Causes, index: cause.NewIndex(found.Causes), wanted: target.Causes}
	t.candidate = s.Execution.Commands.For(target.Name)
	base, err := p.Run.OpenBase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	old, known, err := base.Get(target.Name)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fault.Inputf("%s is not in %s any more: run muster %s again", name.Print(target.Name), p.Options.Store.Golden, p.Run.Command)
	}
	t.known = &old.Outcome
	t.reference, err = trustedCommand(p, s, base.Meta(), target.Name, reference)
	return t, err
}

// trustedCommand returns the trusted command: what was given, the run's own, or the one that
// made the golden, if its executable is still there as it was.
func trustedCommand(p *pastrun.Past, s *run.Run, m golden.Meta, caseName string, given []string) (*exec.Command, error) {
	switch {
	case len(given) > 0:
		return s.Execution.Crew.Resolve(given)
	case p.Run.Command == report.CompareCommand:
		return s.Execution.Crew.Resolve(p.Options.Command.Reference)
	}
	const mend = "name the trusted one with --ref 'COMMAND'"
	r := turns.RecordedRival(m, turns.Candidate{}) // not the run's, which may be the same one
	switch {
	case r.Command == nil:
		return nil, fault.Inputf("the command that made the golden has to run again: %s: %s", r.Why, mend)
	case !r.Runs(caseName):
		return nil, fault.Inputf("the command that made the golden has to run again, and there is no digest of the one that was for %s: %s", name.Print(caseName), mend)
	}
	return r.Command, nil
}

// reducing is a reduction under way.
type reducing struct {
	*trial
	run     *run.Run
	past    *pastrun.Past
	goal    goal.Goal
	how     Reduction
	began   time.Time
	shown   time.Time // when the status was last
	own     []byte    // the case's own source
	given   int64     // bytes of what all cases are given that are copied at most
	tooMuch int64     // those bytes, where they were too many to copy
}

// startsMax is how often the case's own source runs to begin with: what is flaky would
// lead nowhere.
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
	}, d.test)
	if err != nil && bounded.Err() == nil {
		return errors.Join(err, d.write(r.Source)) // the machine's
	}
	return d.conclude(ctx, r)
}

func (d *reducing) lanes() int { return max(1, d.run.Width().Goroutines) }

// begin starts the crew, and has it run the case's own source.
func (d *reducing) begin(ctx context.Context) (err error) {
	if d.own, err = d.run.Inputs.Read(*d.task.Entry); err != nil {
		return err
	}
	if err := d.startBoth(ctx, d.run.Job.Limits.Timeout); err != nil {
		return err
	}
	var slowest time.Duration
	for n := range startsMax {
		s, err := d.observe(ctx, d.own, n > 0)
		if err != nil {
			return err
		}
		s.release()
		if !d.keeps(s) {
			return d.notShown()
		}
		slowest = max(slowest, s.was.Cost.Wall, s.is.Cost.Wall)
		d.start = &facts{s.was.Outcome.Ending, s.is.Outcome.Ending, s.Explanation}
	}
	return d.hurry(ctx, slowest)
}

// startBoth starts a crew that runs the reference, too, and ends a run after timeout.
func (d *reducing) startBoth(ctx context.Context, timeout time.Duration) error {
	setup := d.run.Setup()
	setup.Timeout = timeout
	setup.Lanes = d.lanes()
	setup.Commands = append(setup.Commands, d.reference)
	return d.run.Execution.Start(ctx, setup)
}

// A smaller source may well run for ever: a loop whose end is gone. It is given up after
// so many times what the case's own took, and not before leastTime.
const (
	patienceFactor = 20
	leastTime      = 5 * time.Second
)

// patience is how long an attempt may take, by the limit of the run and by what the case's
// own source took.
func patience(limit, slowest time.Duration) time.Duration {
	return min(limit, max(leastTime, patienceFactor*slowest))
}

// hurry starts the crew anew with a shorter limit of time, unless the limit is what the
// case shows.
func (d *reducing) hurry(ctx context.Context, slowest time.Duration) error {
	limit := patience(d.run.Job.Limits.Timeout, slowest)
	if limit == d.run.Job.Limits.Timeout || d.start.was.Partial() || d.start.is.Partial() {
		return nil
	}
	if err := d.run.Execution.Stop(); err != nil {
		return err
	}
	return d.startBoth(ctx, limit)
}

// notShown says that the case's own source does not, or not always, show the cause.
func (d *reducing) notShown() error {
	why := "its run of now does not show " + d.words()
	if d.start != nil {
		why = "it does not show " + d.words() + " each time it runs"
	}
	return fault.Inputf("%s: %s: the command or the reference is another than in run %s (name the trusted one with --ref), or it is flaky: run muster %s again",
		name.Print(d.goal.Name), why, d.past.Run.ID, d.past.Run.Command)
}

// words names the causes.
func (d *reducing) words() string {
	var list []string
	for _, i := range d.goal.Causes {
		list = append(list, d.causes[i].ID+" "+d.causes[i].Name)
	}
	return strings.Join(list, ", ")
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
	d.how.Status(fmt.Sprintf("%s → %s, %s, %v%s; round %d: %s, %.0f %%",
		readable.Number(len(d.own)), readable.Count(p.Size, "byte"), readable.Count(p.Tests, "test"), now.Sub(d.began).Round(time.Second), left, p.Round, p.Pass, 100*p.Part))
}
