package regress

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"muster/internal/terminal"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// newReporters opens the reports that the options name, as one reporter. past says that the run
// is over: its progress is not shown.
func newReporters(r *Report, h host.Host, past bool) (report.Reporter, error) {
	console := newConsole(r, h)
	console.Past = past
	var tee report.Tee
	if r.Format == JSON {
		tee = append(tee, report.NewJSON(console, verbosityOf(r)))
	} else {
		tee = append(tee, report.NewText(console, verbosityOf(r)))
	}
	for _, f := range []struct {
		path string
		open func(path string) (report.Reporter, error)
	}{{r.JUnit, report.NewJUnit}, {r.HTML, report.NewHTML}, {r.Markdown, report.NewMarkdown}} {
		if f.path == "" {
			continue
		}
		one, err := f.open(f.path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--%w", err), tee.Close())
		}
		tee = append(tee, one)
	}
	if r.Events != "" {
		e, err := eventsFile(r.Events)
		if err != nil {
			return nil, errors.Join(err, tee.Close())
		}
		tee = append(tee, e)
	}
	return tee, nil
}

func eventsFile(path string) (report.Reporter, error) {
	f, err := os.Create(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
		return nil, fault.Inputf("--events: %w", err)
	}
	if err != nil {
		return nil, fault.Environmentf("--events: %w", err)
	}
	e, err := report.NewEvents(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return e, nil
}

func verbosityOf(r *Report) report.Verbosity {
	switch {
	case r.Quiet:
		return report.Quiet
	case r.Verbose:
		return report.Verbose
	}
	return report.Normal
}

func newConsole(r *Report, h host.Host) report.Console {
	c := report.Console{Out: newStream(r, h.Stdout), Err: newStream(r, h.Stderr), Resume: r.Resume}
	out, isFile := h.Stdout.(*os.File)
	errs, isFileToo := h.Stderr.(*os.File)
	c.Shared = isFile && isFileToo && terminal.Same(out, errs)
	return c
}

// newStream detects whether a writer is a terminal, and its width.
func newStream(r *Report, w io.Writer) report.Stream {
	if w == nil {
		return report.Stream{Writer: io.Discard}
	}
	f, ok := w.(*os.File)
	if !ok {
		return report.Stream{Writer: w, Colour: r.Colour == ColourAlways}
	}
	return report.Stream{
		Writer: w, Terminal: terminal.Moves(f, os.Getenv), Colour: usesColour(r, f),
		Width: func() int { return terminal.Width(f) },
	}
}

// usesColour reports whether to colour what is written to a file.
func usesColour(r *Report, f *os.File) bool {
	switch r.Colour {
	case ColourAlways:
		return true
	case ColourNever:
		return false
	}
	return terminal.Colour(f, os.Getenv)
}

// warnOfReports tells of reports that lie in a folder corpus: this run leaves
// them out, one that does not name them takes them for cases.
func (s *session) warnOfReports() {
	root := s.in.Corpus.Root()
	if root == "" {
		return
	}
	for _, f := range listReportFiles(&s.o.Report) {
		abs, err := filepath.Abs(f.path)
		if err != nil {
			continue
		}
		if name, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(name) && s.chooser.Wants(name) {
			s.events.Warn(f.path + " is a report, and lies among the cases: a later run would take it for one; write it elsewhere")
		}
	}
}
