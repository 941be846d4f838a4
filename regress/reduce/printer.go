package reduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"muster/internal/readable"
	"muster/regress"
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
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// printer writes and prints the result of a reduction.
type printer struct {
	trial  *trial
	run    *run.Run
	past   *pastrun.Past
	goal   goal.Goal
	how    Options
	began  time.Time
	folder resultFolder
}

// conclude writes the smallest source, runs it once more, and prints the result.
func (p *printer) conclude(ctx context.Context, own []byte, r shrink.Result) error {
	tooMuch, unwritten := p.folder.write(*p.trial.task.Entry, r.Source)
	took := time.Since(p.began)
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  reduced  (run %s)\n%s\n", name.Print(p.goal.Name), p.past.Run.ID, readable.Line(p.trial.causeNames()))
	fmt.Fprintf(w, "%s → %s, %s → %s; %s in %s%s\n",
		readable.Number(len(own)), readable.Count(len(r.Source), "byte"),
		readable.Number(plaintext.CountLines(own)), readable.Count(plaintext.CountLines(r.Source), "line"),
		readable.Count(r.Tests, "test"), readable.Duration(took), p.unfinished(ctx, r))
	p.how.Status("")
	if unwritten != nil {
		return errors.Join(unwritten, p.printUnwritten(w, r.Source))
	}
	fmt.Fprintf(w, "written to %s\n", readable.Line(p.path()))
	if ctx.Err() == nil {
		if err := p.printResult(ctx, w, r.Source); err != nil {
			return err
		}
	}
	line, err := p.shellLine()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreproduce: %s\n", line)
	if tooMuch > 0 {
		fmt.Fprintf(w, "           with what all cases are given beside it, %s: that was too much to copy\n", readable.Count(tooMuch, "byte"))
	}
	if _, err := io.WriteString(p.run.Host.Stdout, w.String()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fault.Interruptedf("interrupted: %s is the smallest source so far", p.path())
	}
	return nil
}

// printUnwritten prints a source that could not be written: it may have taken minutes to find.
func (p *printer) printUnwritten(w *strings.Builder, source []byte) error {
	fmt.Fprintf(w, "not written; it is\n\n")
	writeBounded(w, readable.Text(string(source))+"\n", unwrittenLinesMax)
	_, err := io.WriteString(p.run.Host.Stdout, w.String())
	return err
}

// unfinished says why the reduction ended before it was done; "" if it was done.
func (p *printer) unfinished(ctx context.Context, r shrink.Result) string {
	switch {
	case r.Done:
		return ""
	case ctx.Err() != nil:
		return ", interrupted"
	case p.how.TestsMax > 0 && r.Tests >= p.how.TestsMax:
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
func (p *printer) printResult(ctx context.Context, w io.Writer, source []byte) error {
	s, err := p.trial.observe(ctx, source, true)
	if err != nil {
		return err
	}
	defer s.release()
	if !p.trial.keeps(s) {
		return fault.Inputf("%s: it does not show %s each time it runs: it is flaky", p.path(), p.trial.causeNames())
	}
	if n := plaintext.CountLines(source); n > 0 && n <= sourceLinesMax && len(source) <= sourceBytesMax {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(readable.Text(string(source)), "\n"))
	}
	was, is := s.sides()
	difference := &strings.Builder{}
	err = analyse.View{W: difference, Rules: p.run.Job.Rules, Colour: console.UsesColour(&p.run.Job.Report, p.run.Host.Stdout)}.WriteDifferences(was, is)
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

func (p *printer) path() string { return p.folder.file(p.goal.Name) }

// shellLine returns the line that shows the difference again, wherever it is pasted. The line keeps its
// run in a state folder of its own, so that the last run stays the one to decide on.
func (p *printer) shellLine() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fault.Environmentf("the folder that this runs in: %w", err)
	}
	o := p.past.Options
	old, now := quotedCommand(p.trial.reference.TypedWords()), quotedCommand(p.trial.candidate.TypedWords())
	if p.trial.reference.Shell != p.trial.candidate.Shell || p.trial.reference.Stdin != p.trial.candidate.Stdin {
		// compare has one --shell and one --stdin for both.
		o.Command.Shell, o.Command.Stdin = true, false
		old, now = name.Quote(p.trial.reference.Script()), name.Quote(p.trial.candidate.Script())
	}
	args := []string{"muster", regress.CompareCommand, p.folder.path, "--state", filepath.Join(p.folder.path, ".muster"),
		"--filter", "^" + regexp.QuoteMeta(name.Print(p.goal.Name)) + "$", "--ref", old, "--new", now}
	if p.run.Job.Configured {
		args = append(args, "--config", "")
	}
	var usual regress.Options
	job.CompleteLimits(&usual.Limits)
	for _, setting := range job.OutcomeSettings() {
		if setting.Scope != job.OfIdentity && setting.Text(&o) != setting.Text(&usual) {
			args = append(args, setting.Args(&o)...)
		}
	}
	args = append(args, job.ListRemoteArgs(&p.run.Job.Remote)...)
	return "cd " + name.Quote(here) + " && " + name.QuoteAll(args), nil
}

// quotedCommand returns a command as one word, which --ref and --new split as a shell would. Tokens
// such as {in} are not quoted: quotes within quotes are hard to read.
func quotedCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !plainWord.MatchString(w) {
			quoted[i] = name.Quote(w)
		}
	}
	return strings.Join(quoted, " ")
}

// plainWord matches words that need no quotes.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./{}-]+$`)
