// Package console opens the outputs of a command: the console, and the reports in files. Input: the
// options of reports, and the streams of the host. Output: one reporter of events, which passes each
// event to all of them.
//
// It knows no run, and gives no exit status.
package console

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"muster/internal/realpath"
	"muster/internal/terminal"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
	"muster/regress/internal/report/ci"
)

// Open opens all reports as one reporter.
func Open(r *regress.Report, h host.Host) (report.Reporter, error) {
	console := newConsole(r, h)
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
	if h.GitHub == nil {
		return tee, nil
	}
	summary := h.GitHub.Summary
	if summary != "" && r.Markdown != "" && isSameFile(summary, r.Markdown) {
		summary = "" // --markdown writes it
	}
	return ci.NewGitHub(tee, h.GitHub.Commands, summary), nil
}

func openEvents(path string) (report.Reporter, error) {
	if _, err := realpath.Of(path); err != nil {
		return nil, fault.Inputf("--events: %w", err)
	}
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
	c := report.Console{Out: newStream(r, h.Stdout), Err: newStream(r, h.Stderr)}
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

// A File is one that a command reads or writes.
type File struct {
	Role string // for errors, such as "--golden"
	Path string
}

// reportFile is a report that a command writes to a file.
type reportFile struct {
	flag, path string
	mark       string // an older report has it at its beginning
}

// listReports lists the reports that the options name.
func listReports(r *regress.Report) []reportFile {
	return slices.DeleteFunc([]reportFile{
		{"--junit", r.JUnit, report.JUnitMark},
		{"--html", r.HTML, report.HTMLMark},
		{"--markdown", r.Markdown, report.MarkdownMark},
		{"--events", r.Events, report.EventsMark},
	}, func(f reportFile) bool { return f.path == "" })
}

// Paths returns the paths of the reports that the options name.
func Paths(r *regress.Report) (paths []string) {
	for _, f := range listReports(r) {
		paths = append(paths, f.path)
	}
	return paths
}

// CheckApart refuses one file under two names among other files and the reports.
func CheckApart(r *regress.Report, others ...File) error {
	for _, f := range listReports(r) {
		others = append(others, File{f.flag, f.path})
	}
	for i, a := range others {
		for _, b := range others[:i] {
			if a.Path != "" && b.Path != "" && isSameFile(a.Path, b.Path) {
				return fault.Inputf("%s %s: that is also %s, and would be overwritten: name another file", a.Role, a.Path, b.Role)
			}
		}
	}
	return nil
}

// CheckReplaceable refuses to write a report over a file that is not an older report. A file that
// is given to --junit by mistake may be a tool, or a user's work.
func CheckReplaceable(r *regress.Report) error {
	for _, f := range listReports(r) {
		head, err := readHead(f.path)
		if err != nil {
			return fault.Inputf("%s %s: the file exists and cannot be read: %w", f.flag, f.path, err)
		}
		if len(head) > 0 && !bytes.Contains(head, []byte(f.mark)) {
			return fault.Inputf("%s %s: the file is not a report of muster, and would be overwritten: name another file, or move it away", f.flag, f.path)
		}
	}
	return nil
}

// readHead returns the beginning of a regular file. It returns nothing of any other file: that is
// written to, or it does not exist yet.
func readHead(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4<<10))
}

// isSameFile reports whether two paths lead to one regular file, or will.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err == nil && !one.Mode().IsRegular() {
		return false // a device can be written twice; a folder is refused elsewhere
	}
	two, e := os.Stat(b)
	if err == nil && e == nil {
		return os.SameFile(one, two)
	}
	a, err = absoluteOf(a)
	if err != nil {
		return false
	}
	b, err = absoluteOf(b)
	return err == nil && a == b
}

// absoluteOf returns the absolute path of the file that a path leads to.
func absoluteOf(path string) (string, error) {
	path, err := realpath.Of(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
