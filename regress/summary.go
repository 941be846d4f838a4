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
	Command     string        `line:"command"`
	Run         string        `line:"run"`
	Cases       int           `line:"cases"`                     // selected
	Recorded    int           `line:"recorded"`                  // record: cases that are in the golden now
	NotRun      int           `line:"not_run"`                   // selected cases that an interrupt or --fail-fast left out, or that a full disk lost
	Reused      int           `line:"reused,omitempty"`          // check: cases that have the outcome of an earlier check; their verdicts count too
	NotReused   string        `line:"not_reused,name,omitempty"` // check: the case whose run ended --reuse, as its outcome was not that of the earlier check
	Forked      int           `line:"forked,omitempty"`          // check: cases that ran as forks of the started command
	Retracted   int           `line:"retracted,omitempty"`       // check: cases whose forks do not count
	Verdicts    Verdicts      `line:"verdicts"`
	Masked      Masked        `line:"masked,omitempty"`
	Selection   string        `line:"selection,omitempty"` // selection of the golden, as flags; "" = it has none, or --all-cases lifts it
	NotSampled  int           `line:"not_in_sample"`       // cases left out by the recorded --sample, and by nothing else
	Sources     Sources       `line:"sources,omitempty"`   // check: sources that changed since the golden was recorded
	Settings    []string      `line:"settings,omitempty"`  // a sentence for each setting that differs from the recorded one
	Stopped     int           `line:"stopped,omitempty"`   // new or flaky cases that a signal or a limit ended: accept takes them only with --failing
	Endings     Endings       `line:"endings"`             // record: how the cases ended
	Failing     []Failure     `line:"failing,omitempty"`   // record: the first failing cases, in corpus order
	Interrupted bool          `line:"interrupted"`
	BrokeOff    bool          `line:"broke_off,omitempty"` // --resume can continue: the run was interrupted, or the machine failed
	Groups      int           `line:"groups"`              // causes
	ExitStatus  int           `line:"exit_status"`
	Wall        time.Duration `line:"wall_ms"`
	CPU         time.Duration `line:"cpu_ms"`     // of the tool, all runs of all cases
	OwnCPU      time.Duration `line:"own_cpu_ms"` // of muster itself
	CoresBusy   float64       `line:"cores_busy"`
	Merged      int           `line:"merged,omitempty"`  // merge: number of merged runs
	ToolChanged []string      `line:"tool_changed,name"` // check: paths of the tool with other content than recorded: files, missing or new ones, folders with other names
	Tool        ToolFiles     `line:"tool,omitempty"`    // a run on this machine
	Over        []string      `line:"over,omitempty"`    // the limits of --fail-on that the cost of the tool exceeds
	Engine      *EngineRuns   `line:"engine,omitempty"`  // nil = the cases ran on this machine
}

// ToolFiles counts the files of the tool, and says how they were found.
type ToolFiles struct {
	Files    int      `line:"files"`
	Same     int      `line:"same"`                   // check: of the recorded files, those that did not change since
	Observed int      `line:"observed_cases"`         // 0 = the files are those that the command shows
	Varying  []string `line:"varying,name,omitempty"` // paths that are left out, as they change while the tool runs
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
	Cases int `line:"cases"` // includes CutOff and Ignored
	Parts int `line:"parts"` // includes CutOffParts and IgnoredParts
	// CutOff counts the cases that a limit ended both at record and now, and CutOffParts
	// their parts. Only the ending of these cases is compared.
	CutOff      int `line:"cut_off"`
	CutOffParts int `line:"cut_off_parts"`
	// Ignored counts the cases with parts that are never compared, as the user asked, and
	// IgnoredParts these parts. IgnoredAlone counts those of the cases that have no other
	// part that was not compared.
	Ignored      int `line:"ignored,omitempty"`
	IgnoredParts int `line:"ignored_parts,omitempty"`
	IgnoredAlone int `line:"ignored_alone,omitempty"`
	// Holes counts the lines of the parts that vary from run to run.
	Holes Holes `line:"holes,omitempty"`
}

// Holes counts what was compared around holes, and what was not compared at all, in the texts that
// vary from run to run.
type Holes struct {
	Parts    int `line:"parts"`     // with holes
	Lines    int `line:"lines"`     // of these parts: those with a hole
	AllLines int `line:"all_lines"` // of these parts
	Free     int `line:"free"`      // of Lines: those with a hole that any text fits
	Whole    int `line:"whole"`     // parts that were not compared at all
}

// Add adds other counts.
func (h *Holes) Add(other Holes) {
	h.Parts += other.Parts
	h.Lines += other.Lines
	h.AllLines += other.AllLines
	h.Free += other.Free
	h.Whole += other.Whole
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
	Succeeded   int `line:"succeeded"`
	Failed      int `line:"failed"`
	Signalled   int `line:"signalled"`
	TimedOut    int `line:"timed_out"`
	OutOfMemory int `line:"out_of_memory"`
	OutputLimit int `line:"output_limit"`
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
	Known   int `line:"known"`   // selected cases whose recorded source the golden has
	Changed int `line:"changed"` // cases among them with another source now

	Shared        int `line:"shared"` // files given to every case, then or now
	SharedChanged int `line:"shared_changed"`
	SharedAdded   int `line:"shared_added"`
	SharedRemoved int `line:"shared_removed"`

	// Names and SharedNames are the first changed ones, as raw bytes.
	Names       []string `line:"names,name,omitempty"`
	SharedNames []string `line:"shared_names,name,omitempty"`
}

// SharedDiffering counts the shared files that are not the recorded ones.
func (s Sources) SharedDiffering() int { return s.SharedChanged + s.SharedAdded + s.SharedRemoved }

// EngineRuns adds up all runs of cases on an engine. Times are by the clock of this machine, or as the
// engine reports them.
type EngineRuns struct {
	Cached   int `line:"cached"`   // runs whose result the engine had already
	Executed int `line:"executed"` // the other runs; the times below are about them
	Jobs     int `line:"jobs"`     // largest number of runs in progress

	Sent     int64 `line:"sent_bytes"`     // bytes on the network
	Received int64 `line:"received_bytes"` // likewise

	Asked       time.Duration `line:"asked_ms"`       // sum of the times from the request to the result
	Queued      time.Duration `line:"queues_ms"`      // sum of the times until a worker took the run
	QueuesKnown int           `line:"queues_told"`    // runs whose queue time the engine reports
	QueueLeast  time.Duration `line:"queue_least_ms"` // the shortest of these times
	Took        time.Duration `line:"took_ms"`        // sum of the times of the commands alone
	Span        time.Duration `line:"span_ms"`        // from the first request to the last result

	Workers []Worker   `line:"worker_runs"` // workers with a name, by Took, longest first
	Longest LongestRun `line:"longest,null"`
}

// Worker adds up the runs on one worker of an engine.
type Worker struct {
	Name string        `line:"name,name"`
	Runs int           `line:"runs"`
	Took time.Duration `line:"took_ms"` // sum
}

// LongestRun is the case with the longest run, by the time of the command.
type LongestRun struct {
	Name   string        `line:"name,name"`
	Worker string        `line:"worker,name"`
	Took   time.Duration `line:"took_ms"`
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

// AtOnce returns the mean number of requests in progress, and of commands that ran.
func (r *EngineRuns) AtOnce() (asked, running float64) {
	if r.Span <= 0 {
		return 0, 0
	}
	return float64(r.Asked) / float64(r.Span), float64(r.Took) / float64(r.Span)
}
