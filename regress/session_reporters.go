package regress

import (
	"path/filepath"

	"muster/regress/internal/console"
)

// reportAsAsked makes a session report as its options say.
func reportAsAsked(s *session) error {
	out, err := console.Open(&s.job.Report, s.host, false)
	if err == nil {
		s.reportTo(out)
	}
	return err
}

// warnOfReports warns of reports among the cases of a folder corpus. This run leaves them out. A
// run that does not name them takes them for cases.
func warnOfReports(s *session) {
	root := s.in.Corpus.Root()
	if root == "" {
		return
	}
	for _, path := range console.Paths(&s.job.Report) {
		abs, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if name, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(name) && s.job.Chooser.Wants(name) {
			s.events.Warn(path + " is a report, and lies among the cases: a later run would take it for one; write it elsewhere")
		}
	}
}
