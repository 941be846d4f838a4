package state

import (
	"encoding/json"
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
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
	Reused   bool               `json:"reused,omitempty"` // the outcome is that of an earlier check
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
	return replace(r.ID, r.File("results.json"), text)
}

// Results returns the results that SaveResults wrote, or nil if the run ended before.
func (r *Run) Results() ([]Result, error) {
	decode := func(content []byte) (results *[]Result, err error) { return results, json.Unmarshal(content, &results) }
	results, err := kept(r, "results.json", decode, "the results of run "+r.ID, "run muster "+r.Command+" again")
	if err == nil && results == nil && r.Finished {
		err = fault.Inputf("%s, the results of run %s, is gone: run muster %s again", r.File("results.json"), r.ID, r.Command)
	}
	if err != nil || results == nil {
		return nil, err
	}
	for _, result := range *results {
		parseEngine(result.Engine)
	}
	return *results, nil
}

// Summary is the part of a run's summary that run.json keeps. The list of runs and merges read
// it.
type Summary struct {
	Interrupted  bool           `json:"interrupted"`
	Cases        int            `json:"cases"`
	NotRun       int            `json:"not_run"`
	NotIdentical int            `json:"not_identical"`
	Recorded     int            `json:"recorded"`
	Failing      int            `json:"failing,omitempty"` // cases of a record that did not exit with 0
	Engine       *SummaryEngine `json:"engine,omitempty"`  // nil for a run on this machine

	// These fields are for merges.
	ToolChanged []string        `json:"tool_changed,omitempty"`
	Sources     regress.Sources `json:"sources,omitzero"`
	Settings    []string        `json:"settings,omitempty"`
	Selection   string          `json:"selection,omitempty"`
	NotSampled  int             `json:"not_in_sample,omitempty"`
}

// SummaryEngine counts the runs on an engine.
type SummaryEngine struct {
	Cached   int `json:"cached"`
	Executed int `json:"executed"`
}

// SummaryOf returns the part of a summary that is kept.
func SummaryOf(s regress.Summary) Summary {
	k := Summary{
		Interrupted: s.Interrupted, Cases: s.Cases, NotRun: s.NotRun, NotIdentical: s.Verdicts.NotIdentical(), Recorded: s.Recorded, Failing: s.Endings.Failing(),
		ToolChanged: s.ToolChanged, Sources: s.Sources, Settings: s.Settings, Selection: s.Selection, NotSampled: s.NotSampled,
	}
	if r := s.Engine; r != nil {
		k.Engine = &SummaryEngine{r.Cached, r.Executed}
	}
	return k
}

// Encode returns v as JSON, with every string in printed form. Names, paths and arguments are
// raw bytes, which JSON cannot hold.
func Encode[T any](v T) (json.RawMessage, error) {
	name.PrintIn(&v)
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Environmentf("keep the run: %w", err)
	}
	return text, nil
}

// Decode is the inverse of Encode.
func Decode[T any](text json.RawMessage) (v T, err error) {
	if err = json.Unmarshal(text, &v); err == nil {
		err = name.ParseIn(&v)
	}
	return v, err
}
