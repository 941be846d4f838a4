package regress

import (
	"path/filepath"

	"muster/regress/internal/console"
)

// warnOfReports warns of reports among the cases of a folder corpus. This run leaves them out. A
// run that does not name them takes them for cases.
func (s *session) warnOfReports() {
	root := s.in.Corpus.Root()
	if root == "" {
		return
	}
	for _, path := range console.Paths(&s.o.Report) {
		abs, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if name, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(name) && s.chooser.Wants(name) {
			s.events.Warn(path + " is a report, and lies among the cases: a later run would take it for one; write it elsewhere")
		}
	}
}
