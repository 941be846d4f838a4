package state

import "muster/regress"

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
