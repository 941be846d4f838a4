package console

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

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
	a, err = filepath.Abs(a)
	if err != nil {
		return false
	}
	b, err = filepath.Abs(b)
	return err == nil && a == b
}
