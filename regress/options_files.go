package regress

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/report"
)

// listOwnFiles lists the files that muster itself writes. In a corpus that is the current folder,
// they are not cases.
func listOwnFiles(o *Options) []string {
	own := []string{o.Store.State}
	if !mirror.IsAddress(o.Store.Golden) {
		own = append(own, golden.Files(o.Store.Golden)...)
	}
	for _, f := range listReportFiles(&o.Report) {
		own = append(own, f.path)
	}
	return own
}

// An ownFile is one that a command reads or writes, and what it is to it.
type ownFile struct{ what, path string }

// checkDistinct refuses one file under two names among what a run reads and writes.
func checkDistinct(o *Options) error {
	return checkReportsApart(&o.Report, ownFile{"the corpus", o.Corpus.Path}, ownFile{"--golden", o.Store.Golden})
}

// checkReportsApart refuses one file under two names among others and the reports.
func checkReportsApart(r *Report, others ...ownFile) error {
	for _, f := range listReportFiles(r) {
		others = append(others, ownFile{"--" + f.flag, f.path})
	}
	for i, a := range others {
		for _, b := range others[:i] {
			if a.path != "" && b.path != "" && sameFile(a.path, b.path) {
				return fault.Inputf("%s %s: that is also %s, and would be overwritten: name another file", a.what, a.path, b.what)
			}
		}
	}
	return nil
}

// A reportFile is a report that a run writes to a file.
type reportFile struct {
	flag, path string
	mark       string // what an older one has at its beginning
}

// listReportFiles lists the reports that the options name.
func listReportFiles(r *Report) []reportFile {
	return slices.DeleteFunc([]reportFile{
		{"junit", r.JUnit, report.JUnitMark},
		{"html", r.HTML, report.HTMLMark},
		{"markdown", r.Markdown, report.MarkdownMark},
		{"events", r.Events, report.EventsMark},
	}, func(f reportFile) bool { return f.path == "" })
}

// checkReplaceable refuses to write a report over a file that is no older report. A file that is
// given to --junit by mistake may be a tool, or a user's work.
func checkReplaceable(r *Report) error {
	for _, f := range listReportFiles(r) {
		head, err := headOf(f.path)
		if err != nil {
			return fault.Inputf("--%s %s: it is there and cannot be read: %w", f.flag, f.path, err)
		}
		if len(head) > 0 && !bytes.Contains(head, []byte(f.mark)) {
			return fault.Inputf("--%s %s: that is no report of muster's, and would be overwritten: name another file, or move it away", f.flag, f.path)
		}
	}
	return nil
}

// headOf returns how a regular file begins, nothing of any other.
func headOf(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // it is made, or cannot be; a device can be written to
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4<<10))
}

// sameFile reports whether two paths lead to one regular file, or will.
func sameFile(a, b string) bool {
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
