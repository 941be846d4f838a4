package record

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// Bounds of what a summary says of failing cases.
const (
	failingNamed = 5
	errorLineMax = 200 // bytes
)

// refused reports whether the record writes no golden because every case fails.
func (r *recording) refused() bool {
	return len(r.failing) == len(r.run.Inputs.Cases) && !r.run.Job.Judge.AllowFailures
}

// noteFirstRun warns once the first cases that ran have all failed, so that nobody waits for the
// rest of a corpus with a broken command.
func (r *recording) noteFirstRun(rec *golden.Record) error {
	r.ran++
	r.hasPassed = r.hasPassed || rec.Outcome.Ending.Success()
	if r.ran != pass.FailingFirst || len(r.run.Inputs.Cases) == pass.FailingFirst || r.hasPassed || r.run.Resumed || r.run.Job.Judge.AllowFailures {
		return nil
	}
	line, err := errorLine(r.writer, &rec.Outcome)
	if err != nil {
		return err
	}
	last := report.Failure{Name: rec.Name, Ending: rec.Outcome.Ending, Line: line}
	r.run.Events.Warn(fmt.Sprintf("all of the first %d cases fail; the last of them is %s; interrupt the record if the command is wrong", pass.FailingFirst, last))
	return nil
}

// failsSoFar reports whether the record is refused after the first run of each case: every case
// fails. It concludes them, for further runs change nothing.
func (r *recording) failsSoFar() (bool, error) {
	if r.run.Job.Judge.AllowFailures {
		return false, nil
	}
	records := make([]golden.Record, len(r.run.Inputs.Cases))
	for i, e := range r.run.Inputs.Cases {
		rec, known, err := r.writer.Get(e.Name)
		if err != nil || !known || rec.Outcome.Ending.Success() {
			return false, err
		}
		records[i] = rec
	}
	for _, t := range r.run.Inputs.Tasks() {
		if !r.done[t.Index] {
			r.conclude(t, records[t.Index])
		}
	}
	return true, nil
}

// nameFailing puts the first failing cases into the summary, and warns if most cases fail.
func (r *recording) nameFailing() error {
	slices.Sort(r.failing)
	for _, i := range r.failing[:min(failingNamed, len(r.failing))] {
		rec, _, err := r.writer.Get(r.run.Inputs.Cases[i].Name)
		if err != nil {
			return err
		}
		line, err := errorLine(r.writer, &rec.Outcome)
		if err != nil {
			return err
		}
		r.run.Ledger.Summary.Failing = append(r.run.Ledger.Summary.Failing, report.Failure{Name: rec.Name, Ending: rec.Outcome.Ending, Line: line})
	}
	if 2*len(r.failing) > len(r.run.Inputs.Cases) && !r.run.Job.Judge.AllowFailures {
		r.warnFailing(r.run.Ledger.Summary.Failing[0])
	}
	return nil
}

func (r *recording) warnFailing(first report.Failure) {
	text := fmt.Sprintf("%d of %s fail; the first is %s", len(r.failing), readable.Cases(len(r.run.Inputs.Cases)), first)
	if r.refused() {
		text = fmt.Sprintf("every case fails, so %s is not written; the first is %s; add --allow-failures if they fail on purpose", r.run.Job.Store.Golden, first)
	}
	r.run.Events.Warn(text)
	for _, hint := range r.run.Execution.Commands.For(first.Name).Hints() {
		r.run.Events.Warn(hint)
	}
	if hint := r.headerHint(first); hint != "" {
		r.run.Events.Warn(hint)
	}
}

// headerHint suggests --headers if the error of a case names the file of another one.
func (r *recording) headerHint(first report.Failure) string {
	words := strings.FieldsFunc(first.Line, func(c rune) bool { return strings.ContainsRune(" \t:'\"<>(),`‘’", c) })
	for _, e := range r.run.Inputs.Cases {
		base := path.Base(e.Name)
		isNumber := strings.Trim(base, "0123456789") == "" // a line, say
		if e.Name != first.Name && !isNumber && slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == base }) {
			glob := base
			if ext := path.Ext(base); ext != "" {
				glob = "*" + ext
			}
			return fmt.Sprintf("%s is a case, which other cases do not see: --headers %s gives such files to all", name.Print(e.Name), name.Quote(glob))
		}
	}
	return ""
}

// errorLine returns the first line of the standard error, else of the standard output.
func errorLine(w *golden.Writer, o *outcome.Outcome) (string, error) {
	for _, place := range []outcome.Place{outcome.Stderr, outcome.Stdout} {
		for _, p := range o.Kept().Parts {
			if p.Place != place || p.Form == outcome.Ignored {
				continue
			}
			text, err := content.ReadAll(keep.ContentsIn(w), p)
			if line := firstLine(text); err != nil || line != "" {
				return line, err
			}
		}
	}
	return "", nil
}

// firstLine returns the first line of a text that is neither blank nor a warning, cut to
// errorLineMax. If all are warnings it returns the first. Of a traceback it returns the error, and
// of a usage the line that says what is wrong.
func firstLine(text []byte) string {
	warning := ""
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		lower := bytes.ToLower(line)
		switch {
		case len(line) == 0:
		case bytes.Contains(lower, []byte("warning:")):
			warning = cmp.Or(warning, cutLine(line))
		case bytes.HasPrefix(lower, []byte("traceback (")):
			return cutLine(cmp.Or(errorOfTraceback(text), string(line)))
		case bytes.HasPrefix(lower, []byte("usage")):
			return cutLine(cmp.Or(errorOfUsage(text), string(line)))
		default:
			return cutLine(line)
		}
	}
	return warning
}

// errorOfTraceback returns the line after the last traceback of a text, which says the error.
func errorOfTraceback(text []byte) (found string) {
	inside := false
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("Traceback (")):
			inside = true
		case inside && len(bytes.TrimSpace(line)) > 0 && line[0] != ' ':
			found, inside = string(bytes.TrimSpace(line)), false
		}
	}
	return found
}

// errorOfUsage returns the first line with "error:" of a text that begins with the usage.
func errorOfUsage(text []byte) string {
	for line := range bytes.Lines(text) {
		if bytes.Contains(bytes.ToLower(line), []byte("error:")) {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

func cutLine[T []byte | string](line T) string {
	if len(line) > errorLineMax {
		return string(line[:errorLineMax]) + "…"
	}
	return string(line)
}
