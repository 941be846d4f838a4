// Package console opens the outputs of a command: the console, and the reports in files. Input: the
// options of reports, and the streams of the host. Output: one reporter of events, which passes each
// event to all of them.
//
// It knows no run, and gives no exit status.
package console

import (
	"errors"
	"io"
	"os"
	"syscall"

	"muster/internal/terminal"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// Open opens all reports as one reporter. Set isPast if the events are those of a past run, whose
// progress is not shown.
func Open(r *regress.Report, h host.Host, isPast bool) (report.Reporter, error) {
	console := newConsole(r, h)
	console.Past = isPast
	var tee report.Tee
	if r.Format == regress.JSON {
		tee = append(tee, report.NewJSON(console, verbosityOf(r)))
	} else {
		tee = append(tee, report.NewText(console, verbosityOf(r)))
	}
	for _, f := range []struct {
		path string
		open func(path string) (report.Reporter, error)
	}{{r.JUnit, report.NewJUnit}, {r.HTML, report.NewHTML}, {r.Markdown, report.NewMarkdown}, {r.Events, openEvents}} {
		if f.path == "" {
			continue
		}
		one, err := f.open(f.path)
		if err != nil {
			return nil, errors.Join(err, tee.Close())
		}
		tee = append(tee, one)
	}
	return tee, nil
}

func openEvents(path string) (report.Reporter, error) {
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

func verbosityOf(r *regress.Report) report.Verbosity {
	switch {
	case r.Quiet:
		return report.Quiet
	case r.Verbose:
		return report.Verbose
	}
	return report.Normal
}

func newConsole(r *regress.Report, h host.Host) report.Console {
	c := report.Console{Out: newStream(r, h.Stdout), Err: newStream(r, h.Stderr), Resume: r.Resume}
	out, isFile := h.Stdout.(*os.File)
	errs, isFileToo := h.Stderr.(*os.File)
	c.Shared = isFile && isFileToo && terminal.Same(out, errs)
	return c
}

// newStream detects whether a writer is a terminal, and its width. A nil writer discards.
func newStream(r *regress.Report, w io.Writer) report.Stream {
	if w == nil {
		return report.Stream{Writer: io.Discard}
	}
	s := report.Stream{Writer: w, Colour: UsesColour(r, w)}
	if f, ok := w.(*os.File); ok {
		s.Terminal, s.Width = terminal.Moves(f, os.Getenv), func() int { return terminal.Width(f) }
	}
	return s
}

// UsesColour reports whether text for a writer is coloured.
func UsesColour(r *regress.Report, w io.Writer) bool {
	f, isFile := w.(*os.File)
	switch {
	case w == nil || r.Colour == regress.ColourNever:
		return false
	case r.Colour == regress.ColourAlways:
		return true
	}
	return isFile && terminal.Colour(f, os.Getenv)
}
