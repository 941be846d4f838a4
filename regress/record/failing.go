package record

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// Bounds of what a summary says of failing cases.
const (
	failingNamed = 5
	errorLineMax = 200 // bytes
)

// failures are the cases that did not exit with 0.
type failures struct {
	run    *run.Run
	writer *golden.Writer
	cases  []int // indexes of those that have all their runs

	ran       int  // first runs of cases
	hasPassed bool // one of them exited with 0
}

// refuse reports whether the record writes no golden because every case fails.
func (f *failures) refuse() bool {
	return len(f.cases) == len(f.run.Inputs.Cases) && !f.run.Job.Judge.AllowFailures
}

// noteFirst counts the first run of a case. It warns once the first cases that ran have all failed, so that nobody waits for the
// rest of a corpus with a broken command.
func (f *failures) noteFirst(rec *golden.Record) error {
	f.ran++
	f.hasPassed = f.hasPassed || rec.Outcome.Ending.Success()
	if f.ran != pass.FailingFirst || len(f.run.Inputs.Cases) == pass.FailingFirst || f.hasPassed || f.run.Resumed || f.run.Job.Judge.AllowFailures {
		return nil
	}
	line, err := errorLine(f.writer, &rec.Outcome)
	if err != nil {
		return err
	}
	last := regress.Failure{Name: rec.Name, Ending: rec.Outcome.Ending, Line: line}
	f.run.Events.Warn(fmt.Sprintf("all of the first %d cases fail; the last of them is %s; interrupt the record if the command is wrong", pass.FailingFirst, report.FailureText(last)))
	return nil
}

// name puts the first failing cases into the summary, and warns if most cases fail.
func (f *failures) name() error {
	slices.Sort(f.cases)
	for _, i := range f.cases[:min(failingNamed, len(f.cases))] {
		rec, _, err := f.writer.Get(f.run.Inputs.Cases[i].Name)
		if err != nil {
			return err
		}
		line, err := errorLine(f.writer, &rec.Outcome)
		if err != nil {
			return err
		}
		f.run.Ledger.Summary.Failing = append(f.run.Ledger.Summary.Failing, regress.Failure{Name: rec.Name, Ending: rec.Outcome.Ending, Line: line})
	}
	if 2*len(f.cases) > len(f.run.Inputs.Cases) && !f.run.Job.Judge.AllowFailures {
		f.warn(f.run.Ledger.Summary.Failing[0])
	}
	return nil
}

func (f *failures) warn(first regress.Failure) {
	text := fmt.Sprintf("%s of %s fail; the first is %s", readable.Number(len(f.cases)), readable.Cases(len(f.run.Inputs.Cases)), report.FailureText(first))
	if f.refuse() {
		text = fmt.Sprintf("every case fails, so %s is not written; the first is %s; add --allow-failures if they fail on purpose", f.run.Job.Store.Golden, report.FailureText(first))
	}
	f.run.Events.Warn(text)
	command := f.run.Execution.Commands.For(first.Name)
	for _, hint := range append(command.Hints(), headerHint(f.run.Inputs, first), folderHint(command.Words[1:], f.run.Inputs, first)) {
		if hint != "" {
			f.run.Events.Warn(hint)
		}
	}
}

// folderHint suggests a whole path if a case does not find a file, and a relative path of the command may be the reason:
// it names this file, or a folder that the corpus lacks, in the current folder. Cases run in folders of their own.
func folderHint(words []string, in *run.Inputs, first regress.Failure) string {
	line := strings.ToLower(first.Line)
	isMissing := func(text string) bool { return strings.Contains(line, text) }
	if !slices.ContainsFunc([]string{"no such file", "not found", "cannot find", "can't open", "cannot open"}, isMissing) {
		return ""
	}
	for i, word := range words {
		isOfFlag := strings.HasPrefix(word, "-I") || i > 0 && strings.HasPrefix(words[i-1], "-")
		word = strings.TrimPrefix(word, "-I")
		whole, err := filepath.Abs(word)
		if err != nil || filepath.IsAbs(word) || path.Clean(word) == "." {
			continue
		}
		info, err := os.Stat(whole)
		isNamed := func(w string) bool { return path.Base(w) == path.Base(word) }
		kind := ""
		switch {
		case err != nil:
		case info.Mode().IsRegular() && slices.ContainsFunc(pathsIn(first.Line), isNamed):
			kind = "file"
		case !info.IsDir() || !isOfFlag && !strings.Contains(word, "/"): // such a word may be a subcommand
		case !isInCorpus(in, path.Clean(word)):
			kind = "folder"
		}
		if kind != "" {
			return fmt.Sprintf("%s is a %s in the current folder, and a case runs in a folder of its own: write %s", name.Quote(word), kind, name.Quote(whole))
		}
	}
	return ""
}

// isInCorpus reports whether the corpus has a file below a folder.
func isInCorpus(in *run.Inputs, folder string) bool {
	for _, e := range in.Cases {
		if strings.HasPrefix(e.Name, folder+"/") {
			return true
		}
	}
	for _, e := range in.Corpus.Given() {
		if strings.HasPrefix(e.Name, folder+"/") {
			return true
		}
	}
	return false
}

// pathsIn returns the words of an error that may be paths.
func pathsIn(line string) []string {
	return strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t:'\"<>(),`‘’", c) })
}

// headerHint suggests --headers if the error of a case names the file of another one.
func headerHint(in *run.Inputs, first regress.Failure) string {
	words := pathsIn(first.Line)
	for _, e := range in.Cases {
		base := path.Base(e.Name)
		isNumber := strings.Trim(base, "0123456789") == "" // a line, say
		if base != path.Base(first.Name) && !isNumber && slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == base }) {
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

// firstLine returns the first line of a text that is neither blank nor a warning nor introduces
// another, such as "a.c: In function ‘f’:", cut to errorLineMax. If there is none it returns the
// first warning or introduction. Of a traceback it returns the error, and of a usage the line that
// says what is wrong.
func firstLine(text []byte) string {
	other := ""
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		lower := bytes.ToLower(line)
		switch {
		case len(line) == 0:
		case bytes.HasPrefix(lower, []byte("traceback (")):
			return cutLine(cmp.Or(errorOfTraceback(text), string(line)))
		case bytes.HasPrefix(lower, []byte("usage")):
			return cutLine(cmp.Or(errorOfUsage(text), string(line)))
		case bytes.Contains(lower, []byte("warning:")), bytes.HasSuffix(line, []byte(":")), bytes.HasSuffix(line, []byte(",")):
			other = cmp.Or(other, cutLine(line))
		default:
			return cutLine(line)
		}
	}
	return other
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
