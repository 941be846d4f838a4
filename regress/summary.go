package regress

import (
	"encoding/json"
	"time"
)

// The commands whose runs are kept.
const (
	RecordCommand  = "record" // without a golden to compare with
	CheckCommand   = "check"
	CompareCommand = "compare" // without a golden to accept into
)

// Summary is the result of a run. Names in it are raw bytes, as in the corpus.
type Summary struct {
	Command     string        `json:"command"`
	Run         string        `json:"run"`
	Cases       int           `json:"cases"`                              // selected
	Recorded    int           `json:"recorded"`                           // record: cases that are in the golden now
	NotRun      int           `json:"not_run"`                            // selected cases that an interrupt or --fail-fast left out, or that a full disk lost
	Reused      int           `json:"reused,omitzero"`                    // check: cases that have the outcome of an earlier check; their verdicts count too
	NotReused   string        `json:"not_reused,omitzero" name:"printed"` // check: the case whose run ended --reuse, as its outcome was not that of the earlier check
	Forked      int           `json:"forked,omitzero"`                    // check: cases that ran as forks of the started command
	Retracted   int           `json:"retracted,omitzero"`                 // check: cases whose forks do not count
	Verdicts    Verdicts      `json:"verdicts"`
	Masked      Masked        `json:"masked,omitzero"`
	Selection   string        `json:"selection,omitzero"` // selection of the golden, as flags; "" = it has none, or --all-cases lifts it
	NotSampled  int           `json:"not_in_sample"`      // cases left out by the recorded --sample, and by nothing else
	Sources     Sources       `json:"sources,omitzero"`   // check: sources that changed since the golden was recorded
	Settings    []string      `json:"settings,omitempty"` // a sentence for each setting that differs from the recorded one
	Stopped     int           `json:"stopped,omitzero"`   // new or flaky cases that a signal or a limit ended: accept takes them only with --failing
	Endings     Endings       `json:"endings"`            // record: how the cases ended
	Failing     []Failure     `json:"failing,omitempty"`  // record: the first failing cases, in corpus order
	Interrupted bool          `json:"interrupted"`
	BrokeOff    bool          `json:"broke_off,omitzero"` // --resume can continue: the run was interrupted, or the machine failed
	Groups      int           `json:"groups"`             // causes
	ExitStatus  int           `json:"exit_status"`
	Wall        time.Duration `json:"wall_ms"`
	CPU         time.Duration `json:"cpu_ms"`     // of the tool, all runs of all cases
	OwnCPU      time.Duration `json:"own_cpu_ms"` // of muster itself
	CoresBusy   float64       `json:"cores_busy"`
	Merged      int           `json:"merged,omitzero"`             // merge: number of merged runs
	ToolChanged []string      `json:"tool_changed" name:"printed"` // check: paths of the tool with other content than recorded: files, missing or new ones, folders with other names
	Tool        ToolFiles     `json:"tool,omitzero"`               // a run on this machine
	Over        []string      `json:"over,omitempty"`              // the limits of --fail-on that the cost of the tool exceeds
	Engine      *EngineRuns   `json:"engine,omitzero"`             // nil = the cases ran on this machine
}

// ToolFiles counts the files of the tool, and says how they were found.
type ToolFiles struct {
	Files    int      `json:"files"`
	Same     int      `json:"same"`                             // check: of the recorded files, those that did not change since
	Observed int      `json:"observed_cases"`                   // 0 = the files are those that the command shows
	Varying  []string `json:"varying,omitempty" name:"printed"` // paths that are left out, as they change while the tool runs
}

// IsMeasured reports whether the CPU time of the tool is known, for some runs at least.
func (s Summary) IsMeasured() bool { return s.Engine == nil || s.CPU > 0 }

// Unjudged returns how many cases have no verdict, also for a run that broke off
// before it counted them.
func (s Summary) Unjudged() int {
	if s.Command == RecordCommand {
		return s.NotRun
	}
	return max(s.NotRun, s.Cases-s.Verdicts[Identical]-s.Verdicts.NotIdentical())
}

// Masked counts the parts that were not compared. At record it counts those that will not be.
type Masked struct {
	Cases int `json:"cases"` // includes CutOff and Ignored
	Parts int `json:"parts"` // includes CutOffParts and IgnoredParts
	// CutOff counts the cases that a limit ended both at record and now, and CutOffParts
	// their parts. Only the ending of these cases is compared.
	CutOff      int `json:"cut_off"`
	CutOffParts int `json:"cut_off_parts"`
	// Ignored counts the cases with parts that are never compared, as the user asked, and
	// IgnoredParts these parts. IgnoredAlone counts those of the cases that have no other
	// part that was not compared.
	Ignored      int `json:"ignored,omitzero"`
	IgnoredParts int `json:"ignored_parts,omitzero"`
	IgnoredAlone int `json:"ignored_alone,omitzero"`
	// Holes counts the lines of the parts that vary from run to run.
	Holes Holes `json:"holes,omitzero"`
}

// Holes counts what was compared around holes, and what was not compared at all, in the texts that
// vary from run to run.
type Holes struct {
	Parts    int `json:"parts"`     // with holes
	Lines    int `json:"lines"`     // of these parts: those with a hole
	AllLines int `json:"all_lines"` // of these parts
	Free     int `json:"free"`      // of Lines: those with a hole that any text fits
	Whole    int `json:"whole"`     // parts that were not compared at all
	// Absent counts the varying parts that some run lacked.
	Absent int `json:"absent,omitzero"`
}

// Add adds other counts.
func (h *Holes) Add(other Holes) {
	h.Parts += other.Parts
	h.Lines += other.Lines
	h.AllLines += other.AllLines
	h.Free += other.Free
	h.Whole += other.Whole
	h.Absent += other.Absent
}

// Verdicts counts cases by verdict.
type Verdicts [Identical + 1]int

// MarshalJSON writes the counts by the keys of their verdicts.
func (v Verdicts) MarshalJSON() ([]byte, error) {
	counts := map[Verdict]int{}
	for verdict, n := range v {
		counts[Verdict(verdict)] = n
	}
	return json.Marshal(counts)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Verdicts) UnmarshalJSON(text []byte) error {
	var counts map[Verdict]int
	err := json.Unmarshal(text, &counts)
	for verdict, n := range counts {
		v[verdict] = n
	}
	return err
}

// NotIdentical returns how many cases have any other verdict than identical.
func (v Verdicts) NotIdentical() int {
	sum := 0
	for verdict, n := range v {
		if Verdict(verdict) != Identical {
			sum += n
		}
	}
	return sum
}

// Endings counts outcomes by the way they ended.
type Endings struct {
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	Signalled   int `json:"signalled"`
	TimedOut    int `json:"timed_out"`
	OutOfMemory int `json:"out_of_memory"`
	OutputLimit int `json:"output_limit"`
}

// Failing returns how many outcomes did not end with exit status 0.
func (e Endings) Failing() int {
	return e.Failed + e.Signalled + e.TimedOut + e.OutOfMemory + e.OutputLimit
}

// Add counts an ending.
func (e *Endings) Add(ending Ending) {
	switch ending.Kind {
	case Exited:
		if ending.Success() {
			e.Succeeded++
		} else {
			e.Failed++
		}
	case Signalled:
		e.Signalled++
	case TimedOut:
		e.TimedOut++
	case OutOfMemory:
		e.OutOfMemory++
	case OutputLimit:
		e.OutputLimit++
	}
}

// Sources counts the sources and shared files of a corpus that changed since the
// golden was recorded.
type Sources struct {
	Known   int // selected cases whose recorded source the golden has
	Changed int // cases among them with another source now

	Shared        int // files given to every case, then or now
	SharedChanged int
	SharedAdded   int
	SharedRemoved int

	// Names and SharedNames are the first changed ones, as raw bytes.
	Names       []string `name:"printed"`
	SharedNames []string `name:"printed"`
}

// SharedDiffering counts the shared files that are not the recorded ones.
func (s Sources) SharedDiffering() int { return s.SharedChanged + s.SharedAdded + s.SharedRemoved }

// EngineRuns adds up all runs of cases on an engine. Times are by the clock of this machine, or as the
// engine reports them.
type EngineRuns struct {
	Cached   int `json:"cached"`   // runs whose result the engine had already
	Executed int `json:"executed"` // the other runs; the times below are about them
	Jobs     int `json:"jobs"`     // largest number of runs in progress

	Sent     int64 `json:"sent_bytes"`     // bytes on the network
	Received int64 `json:"received_bytes"` // likewise

	Asked       time.Duration `json:"asked_ms"`       // sum of the times from the request to the result
	Queued      time.Duration `json:"queues_ms"`      // sum of the times until a worker took the run
	QueuesKnown int           `json:"queues_told"`    // runs whose queue time the engine reports
	QueueLeast  time.Duration `json:"queue_least_ms"` // the shortest of these times
	Took        time.Duration `json:"took_ms"`        // sum of the times of the commands alone
	Span        time.Duration `json:"span_ms"`        // from the first request to the last result

	Workers []Worker   `json:"worker_runs"` // workers with a name, by Took, longest first
	Longest LongestRun `json:"longest"`
}

// Worker adds up the runs on one worker of an engine.
type Worker struct {
	Name string        `json:"name" name:"printed"`
	Runs int           `json:"runs"`
	Took time.Duration `json:"took_ms"` // sum
}

// LongestRun is the case with the longest run, by the time of the command.
type LongestRun struct {
	Name   string        `json:"name" name:"printed"`
	Worker string        `json:"worker" name:"printed"`
	Took   time.Duration `json:"took_ms"`
}

// Mean returns the mean time of a run.
func (w Worker) Mean() time.Duration { return w.Took / time.Duration(max(1, w.Runs)) }

// workerRunsMin is the number of runs that makes the mean of a worker meaningful.
const workerRunsMin = 5

// Slowest returns the worker with the longest mean. ok is false if fewer than two workers have enough
// runs.
func (r *EngineRuns) Slowest() (slow Worker, ok bool) {
	compared := 0
	for _, w := range r.Workers {
		if w.Runs < workerRunsMin {
			continue
		}
		if compared++; compared == 1 || w.Mean() > slow.Mean() {
			slow = w
		}
	}
	return slow, compared > 1
}

// Mean divides a sum by the number of executed runs.
func (r *EngineRuns) Mean(sum time.Duration) time.Duration {
	return sum / time.Duration(max(1, r.Executed))
}
