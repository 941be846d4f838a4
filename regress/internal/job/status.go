package job

import (
	"muster/regress"
	"slices"
)

// ExitStatus returns the exit status of a run with this summary. broke is the class of the error
// that ended the run early.
func ExitStatus(o *regress.Options, s regress.Summary, broke regress.Class) int {
	if broke != regress.None {
		return broke.Status()
	}
	if s.Verdicts[regress.EnvironmentFailed] > 0 {
		return regress.StatusEnvironment
	}
	if s.Command == regress.RecordCommand {
		if s.Recorded == 0 { // every case fails
			return regress.StatusDiffers
		}
		return regress.StatusClean
	}
	if o.Judge.Strict && s.Masked.Cases > 0 {
		return regress.StatusDiffers // nothing is proved of what was not compared
	}
	if s.NotRun > 0 { // --fail-fast: nothing is proved of the rest
		return regress.StatusDiffers
	}
	for _, v := range regress.AllVerdicts() {
		if v != regress.Identical && s.Verdicts[v] > 0 && !slices.Contains(o.Judge.Allow, v.String()) {
			return regress.StatusDiffers
		}
	}
	if len(s.Over) > 0 {
		return regress.StatusDiffers
	}
	return regress.StatusClean
}

// ParseAllowed returns the verdicts that --allow names.
func ParseAllowed(o *regress.Options) []regress.Verdict {
	var list []regress.Verdict
	for _, v := range regress.AllVerdicts() {
		if slices.Contains(o.Judge.Allow, v.String()) {
			list = append(list, v)
		}
	}
	return list
}
