package regress

import (
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// Exit statuses of the program, which `muster help exit-codes` explains.
const (
	statusClean       = 0
	statusDiffers     = 1
	statusInput       = 2
	statusEnvironment = 3
	statusEmpty       = 4
	statusInterrupted = 130
)

// status is the exit status that a run's summary asks for, and the class of
// what broke the run off, if anything did.
func (o *Options) status(s Summary, broke fault.Class) int {
	switch broke {
	case fault.Interrupted:
		return statusInterrupted
	case fault.Environment:
		return statusEnvironment
	case fault.Input:
		return statusInput
	case fault.Empty:
		return statusEmpty
	}
	if s.Verdicts[outcome.Environment] > 0 {
		return statusEnvironment
	}
	if s.Command == "record" {
		return statusClean
	}
	if s.NotRun > 0 { // --fail-fast: nothing is proved of the rest
		return statusDiffers
	}
	for _, v := range outcome.Verdicts() {
		if v != outcome.Identical && s.Verdicts[v] > 0 && !slices.Contains(o.Judge.Allow, v.String()) {
			return statusDiffers
		}
	}
	return statusClean
}

// allowed returns the verdicts that --allow names.
func (o *Options) allowed() []outcome.Verdict {
	var list []outcome.Verdict
	for _, v := range outcome.Verdicts() {
		if slices.Contains(o.Judge.Allow, v.String()) {
			list = append(list, v)
		}
	}
	return list
}
