package report

import (
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// The keys of both summaries are promised to scripts, and their order too.

type jsonSummary struct {
	Type         string          `json:"type"`
	Command      string          `json:"command"`
	Run          string          `json:"run"`
	Cases        int             `json:"cases"`
	Identical    int             `json:"identical"`
	Changed      int             `json:"changed"`
	NewlyFailing int             `json:"newly_failing"`
	NewlyPassing int             `json:"newly_passing"`
	Crashed      int             `json:"crashed"`
	TimedOut     int             `json:"timed_out"`
	OutOfMemory  int             `json:"out_of_memory"`
	OutputLimit  int             `json:"output_limit"`
	Flaky        int             `json:"flaky"`
	New          int             `json:"new"`
	Missing      int             `json:"missing"`
	Environment  int             `json:"environment"`
	NotRun       int             `json:"not_run"`
	DifferedOnce int             `json:"differed_once"`
	MaskedCases  int             `json:"masked_cases"`
	MaskedParts  int             `json:"masked_parts"`
	Sources      int             `json:"sources_changed"`
	ToolChanged  []string        `json:"tool_changed"`
	Interrupted  bool            `json:"interrupted"`
	Groups       int             `json:"groups"`
	Wall         tenths          `json:"wall_ms"`
	CPU          told[tenths]    `json:"cpu_ms"`
	OwnCPU       tenths          `json:"own_cpu_ms"`
	CoresBusy    hundredths      `json:"cores_busy"`
	Shared       int             `json:"shared_changed"`
	NotSampled   int             `json:"not_in_sample"`
	Cost         *jsonCost       `json:"cost"`
	Engine       *jsonEngineRuns `json:"engine,omitempty"`
}

type jsonRecordSummary struct {
	Type        string          `json:"type"`
	Command     string          `json:"command"`
	Run         string          `json:"run"`
	Cases       int             `json:"cases"`
	Recorded    int             `json:"recorded"`
	Flaky       int             `json:"flaky"`
	Succeeded   int             `json:"succeeded"`
	Failed      int             `json:"failed"`
	Signalled   int             `json:"signalled"`
	TimedOut    int             `json:"timed_out"`
	OutOfMemory int             `json:"out_of_memory"`
	OutputLimit int             `json:"output_limit"`
	Environment int             `json:"environment"`
	NotRun      int             `json:"not_run"`
	MaskedCases int             `json:"masked_cases"`
	MaskedParts int             `json:"masked_parts"`
	Interrupted bool            `json:"interrupted"`
	Wall        tenths          `json:"wall_ms"`
	CPU         told[tenths]    `json:"cpu_ms"`
	OwnCPU      tenths          `json:"own_cpu_ms"`
	CoresBusy   hundredths      `json:"cores_busy"`
	Failing     []jsonFailure   `json:"failing"`
	Engine      *jsonEngineRuns `json:"engine,omitempty"`
}

// jsonEngineRuns is what the runs on an engine came to. All but the first line is of those that
// were none of the cache's.
type jsonEngineRuns struct {
	Cached   int          `json:"cached"`
	Executed int          `json:"executed"`
	Asked    tenths       `json:"asked_ms"`  // from asking for each to its result, together
	Queued   told[tenths] `json:"queued_ms"` // of that until a worker took it
	Took     tenths       `json:"took_ms"`   // the commands alone
	Workers  int          `json:"workers"`   // that were seen; 0 where they have no names
	Sent     int64        `json:"sent_bytes"`
	Received int64        `json:"received_bytes"`
}

func toJSONEngineRuns(r *EngineRuns) *jsonEngineRuns {
	if r == nil {
		return nil
	}
	return &jsonEngineRuns{
		r.Cached, r.Executed, tenths(r.Asked), told[tenths]{tenths(r.Queued), r.QueuesTold < r.Executed}, tenths(r.Took), len(r.Workers), r.Sent, r.Received,
	}
}

func toJSONSummary(s Summary, c *Cost) any {
	v := s.Verdicts
	if s.Command == RecordCommand {
		e := s.Endings
		return jsonRecordSummary{
			Type: "summary", Command: readable.Line(s.Command), Run: readable.Line(s.Run), Cases: s.Cases,
			Recorded: s.Recorded, Flaky: v[outcome.Flaky],
			Succeeded: e.Succeeded, Failed: e.Failed, Signalled: e.Signalled,
			TimedOut: e.TimedOut, OutOfMemory: e.OutOfMemory, OutputLimit: e.OutputLimit,
			Environment: v[outcome.Environment], NotRun: s.NotRun, MaskedCases: s.Masked.Cases, MaskedParts: s.Masked.Parts, Interrupted: s.Interrupted,
			Wall: tenths(s.Wall), CPU: told[tenths]{tenths(s.CPU), !s.measured()}, OwnCPU: tenths(s.OwnCPU), CoresBusy: hundredths(s.CoresBusy),
			Failing: toJSONFailures(s.Failing), Engine: toJSONEngineRuns(s.Engine),
		}
	}
	return jsonSummary{
		Type: "summary", Command: readable.Line(s.Command), Run: readable.Line(s.Run), Cases: s.Cases,
		Identical: v[outcome.Identical], Changed: v[outcome.Changed],
		NewlyFailing: v[outcome.NewlyFailing], NewlyPassing: v[outcome.NewlyPassing],
		Crashed: v[outcome.Crashed], TimedOut: v[outcome.TimedOutNow],
		OutOfMemory: v[outcome.OutOfMemNow], OutputLimit: v[outcome.OutputLimited],
		Flaky: v[outcome.Flaky], New: v[outcome.New], Missing: v[outcome.Missing],
		Environment: v[outcome.Environment], NotRun: s.NotRun, DifferedOnce: v[outcome.DifferedOnce],
		MaskedCases: s.Masked.Cases, MaskedParts: s.Masked.Parts, Sources: s.Sources.Changed, ToolChanged: printedPaths(s.ToolChanged), Interrupted: s.Interrupted, Groups: s.Groups,
		Shared: s.Sources.sharedDiffering(), NotSampled: s.NotSampled,
		Wall: tenths(s.Wall), CPU: told[tenths]{tenths(s.CPU), !s.measured()}, OwnCPU: tenths(s.OwnCPU), CoresBusy: hundredths(s.CoresBusy),
		Cost: toJSONCost(c), Engine: toJSONEngineRuns(s.Engine),
	}
}
