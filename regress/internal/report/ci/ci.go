// Package ci reports a run to services that run checks for every change: annotations and a summary for
// GitHub Actions.
//
// Input: the events of package report. The package must not run anything or decide a verdict. Text of
// cases reaches no line that such a service interprets, except escaped within a command.
package ci

import (
	"path"
	"path/filepath"

	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
)

// sourcePath returns the path of a case's source for links. In a folder given by a relative path, that
// is its path from the folder in which muster runs. Elsewhere it is the name of the case.
func sourcePath(s report.Started, caseName string) string {
	if s.Folder && filepath.IsLocal(s.Corpus) {
		caseName = path.Join(filepath.ToSlash(s.Corpus), caseName)
	}
	return name.Print(caseName)
}

// isOutsideCauses reports whether no cause explains cases with this verdict.
func isOutsideCauses(v regress.Verdict) bool {
	switch v {
	case regress.EnvironmentFailed, regress.Flaky, regress.DifferedOnce, regress.New, regress.Missing:
		return true
	}
	return false
}

// meaning describes a verdict of a single case.
func meaning(v regress.Verdict) string {
	switch v {
	case regress.EnvironmentFailed:
		return "the machine failed, so the case has no outcome"
	case regress.Flaky:
		return "some runs equal the golden and some do not"
	case regress.DifferedOnce:
		return "the check was interrupted before the case ran again"
	case regress.New:
		return "the golden does not have the case"
	case regress.Missing:
		return "the corpus no longer has the case"
	}
	return "not identical with the golden"
}
