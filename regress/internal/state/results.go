package state

import (
	"encoding/json"
	"errors"
	"os"
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// Result is the verdict on a case that was not identical, and whether it was accepted later.
type Result struct {
	Name     []byte             `json:"name"`
	Verdict  regress.Verdict    `json:"verdict"`
	Unstable bool               `json:"unstable,omitempty"` // the runs differ from each other, and none equals the golden
	Stopped  bool               `json:"stopped,omitempty"`  // the case ended by a signal or a limit that the golden does not have
	Why      string             `json:"why,omitempty"`      // reason of an environment failure
	Accepted bool               `json:"accepted,omitempty"`
	Engine   *outcome.EngineRun `json:"engine,omitempty"` // of the first run, on an engine
}

// SaveResults writes a run's results atomically.
func (r *Run) SaveResults(results []Result) error {
	results = slices.Clone(results)
	for i := range results {
		results[i].Engine = printEngine(results[i].Engine)
	}
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return r.replace("results.json", text)
}

// Results returns the results that SaveResults wrote, or nil if the run ended before.
func (r *Run) Results() ([]Result, error) {
	text, err := os.ReadFile(r.File("results.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	var results []Result
	if err := json.Unmarshal(text, &results); err != nil {
		return nil, fault.Inputf("%s, what run %s found, is damaged: %w: run muster %s again", r.File("results.json"), r.ID, err, r.Command)
	}
	for i := range results {
		parseEngine(results[i].Engine)
	}
	return results, nil
}
