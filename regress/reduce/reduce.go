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
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/console"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/plaintext"
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
	return (&reducing{trial: t, run: s, past: p, goal: target, how: r, began: time.Now(), folder: into}).reduce(ctx)
}

// reducing is a reduction under way.
type reducing struct {
	trial  *trial
	run    *run.Run
	past   *pastrun.Past
	goal   goal.Goal
	how    Options
	began  time.Time
	folder resultFolder
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
		_, unwritten := d.folder.write(*d.trial.task.Entry, r.Source)
		return errors.Join(err, unwritten) // the machine's
	}
	return d.conclude(ctx, r)
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
	if flag := d.trial.otherEnv; flag != "" {
		return fault.Inputf("%s: %s: the reference runs with the %s of the check, which is not the recorded one: if the cause comes from it, name the reference with --ref 'env K=V COMMAND'", name.Print(d.goal.Name), why, flag)
	}
	return fault.Inputf("%s: %s: the command or the reference is another than in run %s (name the trusted one with --ref), or it is flaky: run muster %s again",
		name.Print(d.goal.Name), why, d.past.Run.ID, d.past.Run.Command)
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
		left = " of at most " + readable.Duration(d.how.TimeMax)
	}
	d.how.Status(fmt.Sprintf("%s → %s, %s, %s%s; round %d: %s, %.0f %%",
		readable.Number(len(d.own)), readable.Count(p.Size, "byte"), readable.Count(p.Tests, "test"), readable.Duration(now.Sub(d.began)), left, p.Round, p.Pass, 100*p.Part))
}

// conclude writes the smallest source, runs it once more, and prints the result.
func (d *reducing) conclude(ctx context.Context, r shrink.Result) error {
	tooMuch, unwritten := d.folder.write(*d.trial.task.Entry, r.Source)
	took := time.Since(d.began)
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  reduced  (run %s)\n%s\n", name.Print(d.goal.Name), d.past.Run.ID, readable.Line(d.trial.causeNames()))
	fmt.Fprintf(w, "%s → %s, %s → %s; %s in %s%s\n",
		readable.Number(len(d.own)), readable.Count(len(r.Source), "byte"),
		readable.Number(plaintext.CountLines(d.own)), readable.Count(plaintext.CountLines(r.Source), "line"),
		readable.Count(r.Tests, "test"), readable.Duration(took), d.unfinished(ctx, r))
	d.how.Status("")
	if unwritten != nil {
		return errors.Join(unwritten, d.printUnwritten(w, r.Source))
	}
	fmt.Fprintf(w, "written to %s\n", readable.Line(d.path()))
	if ctx.Err() == nil {
		if err := d.printResult(ctx, w, r.Source); err != nil {
			return err
		}
	}
	line, err := d.shellLine()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreproduce: %s\n", line)
	if tooMuch > 0 {
		fmt.Fprintf(w, "           with what all cases are given beside it, %s: that was too much to copy\n", readable.Count(tooMuch, "byte"))
	}
	if _, err := io.WriteString(d.run.Host.Stdout, w.String()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fault.Interruptedf("interrupted: %s is the smallest source so far", d.path())
	}
	return nil
}

// printUnwritten prints a source that could not be written: it may have taken minutes to find.
func (d *reducing) printUnwritten(w *strings.Builder, source []byte) error {
	fmt.Fprintf(w, "not written; it is\n\n")
	writeBounded(w, readable.Text(string(source))+"\n", unwrittenLinesMax)
	_, err := io.WriteString(d.run.Host.Stdout, w.String())
	return err
}

// unfinished says why the reduction ended before it was done; "" if it was done.
func (d *reducing) unfinished(ctx context.Context, r shrink.Result) string {
	switch {
	case r.Done:
		return ""
	case ctx.Err() != nil:
		return ", interrupted"
	case d.how.TestsMax > 0 && r.Tests >= d.how.TestsMax:
		return ", ended by --tests-max"
	}
	return ", ended by --time-max"
}

// Bounds of a source and a difference that are printed: the shell line below must stay in sight.
const (
	sourceLinesMax     = 40
	sourceBytesMax     = 4 << 10 // a program on one line fits no screen either
	unwrittenLinesMax  = 1000
	differenceLinesMax = 60
	differenceBytesMax = 500 // of a line
)

// printResult runs the source once more, and prints it with the difference that it makes.
func (d *reducing) printResult(ctx context.Context, w io.Writer, source []byte) error {
	s, err := d.trial.observe(ctx, source, true)
	if err != nil {
		return err
	}
	defer s.release()
	if !d.trial.keeps(s) {
		return fault.Inputf("%s: it does not show %s each time it runs: it is flaky", d.path(), d.trial.causeNames())
	}
	if n := plaintext.CountLines(source); n > 0 && n <= sourceLinesMax && len(source) <= sourceBytesMax {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(readable.Text(string(source)), "\n"))
	}
	was, is := s.sides()
	difference := &strings.Builder{}
	err = analyse.View{W: difference, Rules: d.run.Job.Rules, Colour: console.UsesColour(&d.run.Job.Report, d.run.Host.Stdout)}.WriteDifferences(was, is)
	writeBounded(w, difference.String(), differenceLinesMax)
	return err
}

// writeBounded writes the first lines of a text, the beginning of each, and how many lines are left.
func writeBounded(w io.Writer, text string, most int) {
	lines := strings.SplitAfter(text, "\n")
	if left := len(lines) - 1 - most; left > 0 {
		lines = append(lines[:most], fmt.Sprintf("… %s more\n", readable.Count(left, "line")))
	}
	for _, line := range lines {
		if left := len(line) - differenceBytesMax; left > 0 {
			line = fmt.Sprintf("%s … +%s\n", strings.ToValidUTF8(line[:differenceBytesMax], ""), readable.Count(left, "byte"))
		}
		fmt.Fprint(w, line)
	}
}

func (d *reducing) path() string { return d.folder.file(d.goal.Name) }

// shellLine returns the line that shows the difference again, wherever it is pasted. The line keeps its
// run in a state folder of its own, so that the last run stays the one to decide on.
func (d *reducing) shellLine() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fault.Environmentf("the folder that this runs in: %w", err)
	}
	o := d.past.Options
	old, now := name.QuoteCommand(d.trial.reference.TypedWords()), name.QuoteCommand(d.trial.candidate.TypedWords())
	if d.trial.reference.Shell != d.trial.candidate.Shell || d.trial.reference.Stdin != d.trial.candidate.Stdin {
		// compare has one --shell and one --stdin for both.
		o.Command.Shell, o.Command.Stdin = true, false
		old, now = name.Quote(d.trial.reference.Script()), name.Quote(d.trial.candidate.Script())
	}
	args := []string{"muster", regress.CompareCommand, d.folder.path, "--state", filepath.Join(d.folder.path, ".muster"),
		"--filter", "^" + regexp.QuoteMeta(name.Print(d.goal.Name)) + "$", "--ref", old, "--new", now}
	args = append(args, job.ListEngineArgs(&d.run.Job.Remote, d.run.Job.Configured)...)
	var usual regress.Options
	job.CompleteLimits(&usual.Limits)
	for _, setting := range job.OutcomeSettings() {
		if setting.Scope != job.OfIdentity && setting.Text(&o) != setting.Text(&usual) {
			args = append(args, setting.Args(&o)...)
		}
	}
	return "cd " + name.Quote(here) + " && " + name.QuoteAll(args), nil
}
