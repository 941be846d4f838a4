package regress

import (
	"encoding/json"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// Exit statuses of the program; README and `muster help exit-codes` explain
// them.
const (
	statusClean       = 0
	statusDiffers     = 1
	statusEnvironment = 3
	statusInterrupted = 130
)

// status is the exit status that a run's summary asks for.
func (o *Options) status(s Summary) int {
	switch {
	case s.Verdicts[outcome.Environment] > 0:
		return statusEnvironment
	case s.Interrupted:
		return statusInterrupted
	case s.Command == "record":
		return statusClean
	}
	for _, v := range outcome.Verdicts() {
		if v != outcome.Identical && s.Verdicts[v] > 0 && !slices.Contains(o.Judge.Allow, v.String()) {
			return statusDiffers
		}
	}
	return statusClean
}

// checkAllow refuses names of verdicts that cannot be allowed.
func (o *Options) checkAllow() error {
	for _, a := range o.Judge.Allow {
		if a != "flaky" && a != "new" && a != "missing" {
			return fault.Inputf("--allow %q: flaky, new and missing can be allowed", a)
		}
	}
	return nil
}

// marshal keeps an earlier error.
func marshal(v any, earlier error) (json.RawMessage, error) {
	if earlier != nil {
		return nil, earlier
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Environmentf("keep the run: %w", err)
	}
	return text, nil
}
