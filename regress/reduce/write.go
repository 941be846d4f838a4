package reduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/analyse"
	"muster/regress/internal/console"
	"muster/regress/internal/corpus"
	"muster/regress/internal/diff"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/opt"
	"muster/regress/internal/report"
	"muster/regress/internal/shrink"
)

// folder is where the reduced sources of the run are. It is a corpus: what all cases are
// given lies there too.
func (d *reducing) folder() string { return d.run.State.Reduced(d.past.Run.ID) }

// conclude runs the smallest source once more, writes it and tells all about it.
func (d *reducing) conclude(ctx context.Context, r shrink.Result) error {
	unwritten := d.write(r.Source)
	took := time.Since(d.began)
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  reduced  (run %s)\n%s\n", name.Print(d.goal.Name), d.past.Run.ID, readable.Line(d.words()))
	fmt.Fprintf(w, "%s → %s, %s → %s; %s in %v%s\n",
		readable.Number(len(d.own)), readable.Count(len(r.Source), "byte"),
		readable.Number(diff.CountLines(d.own)), readable.Count(diff.CountLines(r.Source), "line"),
		readable.Count(r.Tests, "test"), took.Round(10*time.Millisecond), d.unfinished(ctx, r))
	d.how.Status("")
	if unwritten != nil {
		return errors.Join(unwritten, d.tellUnwritten(w, r.Source))
	}
	fmt.Fprintf(w, "written to %s\n", readable.Line(d.path()))
	if ctx.Err() == nil {
		if err := d.showResult(ctx, w, r.Source); err != nil {
			return err
		}
	}
	line, err := d.byOneLine()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreproduce: %s\n", line)
	if d.tooMuch > 0 {
		fmt.Fprintf(w, "           with what all cases are given beside it, %s: that was too much to copy\n", readable.Count(d.tooMuch, "byte"))
	}
	if _, err := io.WriteString(d.run.Host.Stdout, w.String()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fault.Interruptedf("interrupted: %s is the smallest source so far", d.path())
	}
	return nil
}

// tellUnwritten prints a source that there was no place for, whole as far as a screen goes:
// it may have taken minutes to find.
func (d *reducing) tellUnwritten(w *strings.Builder, source []byte) error {
	fmt.Fprintf(w, "not written; it is\n\n")
	writeBounded(w, readable.Text(string(source))+"\n", unwrittenLinesMax)
	_, err := io.WriteString(d.run.Host.Stdout, w.String())
	return err
}

// unfinished says why it might go on.
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

// How long a source may be to be shown, and how much is shown of the difference: the line
// that reproduces it stands below.
const (
	sourceLinesMax     = 40
	sourceBytesMax     = 4 << 10 // a program on one line fits no screen either
	unwrittenLinesMax  = 1000
	differenceLinesMax = 60
	differenceBytesMax = 500 // of a line
)

// showResult runs the source once more, and shows it with the difference that it makes.
func (d *reducing) showResult(ctx context.Context, w io.Writer, source []byte) error {
	s, err := d.observe(ctx, source, true)
	if err != nil {
		return err
	}
	defer s.release()
	if !d.keeps(s) {
		return fault.Inputf("%s: it does not show %s each time it runs: it is flaky", d.path(), d.words())
	}
	if n := diff.CountLines(source); n > 0 && n <= sourceLinesMax && len(source) <= sourceBytesMax {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(readable.Text(string(source)), "\n"))
	}
	was, is := s.sides()
	difference := &strings.Builder{}
	err = analyse.View{W: difference, Rules: d.run.Job.Rules, Colour: console.UsesColour(&d.run.Job.Report, d.run.Host.Stdout)}.WriteDifferences(was, is)
	writeBounded(w, difference.String(), differenceLinesMax)
	return err
}

// writeBounded writes the first lines of a text, and how many more there are. Of each line
// it writes the beginning.
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

func (d *reducing) path() string { return filepath.Join(d.folder(), filepath.FromSlash(d.goal.Name)) }

// byOneLine is the shell line that shows the difference again, wherever it is pasted. Its
// run is kept apart: the last run, to be decided on, stays what it is.
func (d *reducing) byOneLine() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fault.Environmentf("the folder that this runs in: %w", err)
	}
	o := d.past.Options
	old, now := quotedCommand(d.reference.TypedWords()), quotedCommand(d.candidate.TypedWords())
	if d.reference.Shell != d.candidate.Shell || d.reference.Stdin != d.candidate.Stdin {
		// compare has one --shell and one --stdin for both.
		o.Command.Shell, o.Command.Stdin = true, false
		old, now = name.Quote(d.reference.Script()), name.Quote(d.candidate.Script())
	}
	args := []string{"muster", report.CompareCommand, d.folder(), "--state", filepath.Join(d.folder(), ".muster"),
		"--filter", "^" + regexp.QuoteMeta(name.Print(d.goal.Name)) + "$", "--ref", old, "--new", now}
	if d.run.Job.Configured {
		args = append(args, "--config", "")
	}
	var usual opt.Options
	job.CompleteLimits(&usual.Limits)
	for _, setting := range job.OutcomeSettings() {
		if setting.Scope != job.OfIdentity && setting.Text(&o) != setting.Text(&usual) {
			args = append(args, setting.Args(&o)...)
		}
	}
	args = append(args, job.ListRemoteArgs(&d.run.Job.Remote)...)
	return "cd " + name.Quote(here) + " && " + name.QuoteAll(args), nil
}

// quotedCommand is a command as one word, which --ref and --new split as a shell would.
// Tokens mean nothing to that, and are the easier to read without quotes within quotes.
func quotedCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !plainWord.MatchString(w) {
			quoted[i] = name.Quote(w)
		}
	}
	return strings.Join(quoted, " ")
}

// plainWord is what needs no quotes, tokens such as {in} among it.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./{}-]+$`)

// givenMax is how many bytes of headers and context are copied beside a reduced source.
const givenMax = 256 << 20

// write puts a source into the folder of reduced ones, beside what every case is given.
func (d *reducing) write(source []byte) error {
	err := os.MkdirAll(d.folder(), 0o755)
	if err != nil {
		return fault.Environmentf("keep the reduced source: %w", err)
	}
	root, err := os.OpenRoot(d.folder())
	if err != nil {
		return fault.Environmentf("keep the reduced source: %w", err)
	}
	defer root.Close()
	if err := d.writeGiven(root); err != nil {
		return fault.Environmentf("keep what the reduced source needs: %w", err)
	}
	if err := placeEntry(root, *d.task.Entry, source); err != nil {
		return fault.Environmentf("keep the reduced source: %w", err)
	}
	return nil
}

func (d *reducing) writeGiven(root *os.Root) error {
	given, size := d.run.Inputs.Corpus.Given(), int64(0)
	for _, e := range given {
		size += e.Size
	}
	if size > d.given {
		d.tooMuch = size
		return nil
	}
	for _, e := range given {
		if e.Name == d.goal.Name {
			continue
		}
		if e.Target != "" {
			if err := link(root, e); err != nil {
				return err
			}
			continue
		}
		content, err := d.run.Inputs.Read(e)
		if err == nil {
			err = placeEntry(root, e, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// placeEntry writes an entry in one step, so that an interruption leaves the earlier one. It
// renames a file from a folder that no corpus reads: the entry's name may be too long to add a
// suffix. Each process has its own file, because another may reduce another case.
func placeEntry(root *os.Root, e corpus.Entry, content []byte) error {
	mode := fs.FileMode(0o644)
	if e.Exec {
		mode = 0o755
	}
	const folder = ".muster"
	unfinished := folder + "/reduced." + strconv.Itoa(os.Getpid()) + ".new"
	err := errors.Join(root.MkdirAll(path.Dir(e.Name), 0o755), root.MkdirAll(folder, 0o755))
	if err != nil {
		return err
	}
	if err = root.WriteFile(unfinished, content, mode); err == nil {
		err = root.Rename(unfinished, e.Name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(unfinished))
	}
	return nil
}

func link(root *os.Root, e corpus.Entry) error {
	err := root.MkdirAll(path.Dir(e.Name), 0o755)
	if err == nil {
		err = root.Symlink(e.Target, e.Name)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
