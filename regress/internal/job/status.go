package job

import (
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/opt"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// ExitStatus returns the exit status of a run with this summary. broke is the class of the error
// that ended the run early.
func ExitStatus(o *opt.Options, s report.Summary, broke fault.Class) int {
	if broke != fault.None {
		return broke.Status()
	}
	if s.Verdicts[outcome.Environment] > 0 {
		return fault.StatusEnvironment
	}
	if s.Command == report.RecordCommand {
		if s.Recorded == 0 { // every case fails
			return fault.StatusDiffers
		}
		return fault.StatusClean
	}
	if o.Judge.Strict && s.Masked.Cases > 0 {
		return fault.StatusDiffers // nothing is proved of what was not compared
	}
	if s.NotRun > 0 { // --fail-fast: nothing is proved of the rest
		return fault.StatusDiffers
	}
	for _, v := range outcome.Verdicts() {
		if v != outcome.Identical && s.Verdicts[v] > 0 && !slices.Contains(o.Judge.Allow, v.String()) {
			return fault.StatusDiffers
		}
	}
	if len(s.Over) > 0 {
		return fault.StatusDiffers
	}
	return fault.StatusClean
}

// ParseAllowed returns the verdicts that --allow names.
func ParseAllowed(o *opt.Options) []outcome.Verdict {
	var list []outcome.Verdict
	for _, v := range outcome.Verdicts() {
		if slices.Contains(o.Judge.Allow, v.String()) {
			list = append(list, v)
		}
	}
	return list
}
