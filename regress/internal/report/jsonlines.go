package report

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

// NewJSON returns a Reporter that writes the lines of cases, causes and the summary to the
// console's Out after the last case. These lines are as in an events file, in corpus order and
// without differences. Progress goes to Err.
func NewJSON(c Console, v Verbosity) Reporter {
	progress, out := newProgress(c, v)
	return Tee{progress, &jsonLines{w: out, all: v == Verbose}}
}

// jsonLines holds back the events that it will print, without their differences.
type jsonLines struct {
	w      io.Writer
	all    bool
	cases  []Case
	groups []Group
	found  memberships
	cost   *Cost
}

func (j *jsonLines) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		*j = jsonLines{w: j.w, all: j.all}
	case Case:
		if j.all || ev.Verdict != regress.Identical {
			ev.More += len(ev.Differences)
			ev.Differences = nil
			j.cases = append(j.cases, ev)
		}
	case Group:
		j.found.add(ev)
		j.groups = append(j.groups, ev)
	case Cost:
		j.cost = &ev
	case Finished:
		return j.write(ev)
	}
	return nil
}

func (j *jsonLines) Close() error { return nil }

func (j *jsonLines) write(f Finished) error {
	slices.SortStableFunc(j.cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
	w, l := bufio.NewWriter(j.w), newLineWriter()
	for _, c := range j.cases {
		short := struct {
			caseLine
			Differences []Difference `json:"differences,omitempty"` // left out
		}{caseLine: caseLineOf(c, j.found.ids(c.Name))}
		if err := l.writeAs(w, c.kind(), short); err != nil {
			return err
		}
	}
	for _, g := range j.groups {
		if err := l.write(w, g, nil); err != nil {
			return err
		}
	}
	if err := l.write(w, f, j.cost); err != nil {
		return err
	}
	return w.Flush()
}

// lineOf returns the struct whose fields are the line of an event. The lines begin with the keys that scripts rely
// on. c is the cost of the change that a summary repeats.
func lineOf(ev Event, c *Cost) any {
	switch ev := ev.(type) {
	case CaseRan:
		return caseRanLine{ev.Name, ev.Pass, ev.Old, ev.Differs, known(ev.CPU, ev.Engine.IsMeasured() && !ev.Reused), ev}
	case Case:
		return caseLineOf(ev, nil)
	case Group:
		return groupLine{
			ev.ID, ev.Signature, ev.Cases, ev.Lines, ev.Sole, ev.Example, ev.Smallest, ev.Name, ev.Kind, ev.Family,
			ev.Joined, ev.Folded, ev.FoldedCount, ev.Excerpt, ev.Members,
		}
	case Finished:
		s := ev.Summary
		if s.Sources.Changed+s.Sources.SharedDiffering() == 0 {
			s.Sources = regress.Sources{}
		}
		if s.Command == regress.RecordCommand {
			return recordLineOf(s)
		}
		return checkLineOf(s, c)
	}
	return ev
}

type caseRanLine struct {
	Name    string         `json:"name" name:"printed"`
	Pass    int            `json:"pass"`
	Old     bool           `json:"old,omitzero"`
	Differs bool           `json:"differs"`
	CPU     *time.Duration `json:"cpu_ms"`
	CaseRan `json:",inline"`
}

type caseLine struct {
	Name       string             `json:"name" name:"printed"`
	Verdict    regress.Verdict    `json:"verdict"`
	Unstable   bool               `json:"unstable,omitzero"`
	Reused     bool               `json:"reused,omitzero"`
	Exit       *int               `json:"exit"`
	Signal     *int               `json:"signal"`
	GoldenExit *int               `json:"golden_exit"`
	CPU        *time.Duration     `json:"cpu_ms"`
	Wall       *time.Duration     `json:"wall_ms"`
	Peak       *int64             `json:"peak_rss_kib"`
	Causes     []string           `json:"causes"`
	Why        string             `json:"why,omitzero"`
	Engine     *outcome.EngineRun `json:"engine,omitzero"`
	Case       `json:",inline"`
}

// caseLineOf returns the line of a case with the IDs of its causes.
func caseLineOf(c Case, causes []string) caseLine {
	return caseLine{
		c.Name, c.Verdict, c.Unstable, c.Reused, codeOf(c.Ending, regress.Exited), codeOf(c.Ending, regress.Signalled), codeOf(c.GoldenEnding, regress.Exited),
		known(c.Cost.CPU, c.measured()), known(c.Cost.Wall, !c.Reused), known(c.Cost.PeakRSS, c.measured()), causes, c.Why, c.Engine, c,
	}
}

// codeOf returns the exit status or the signal of an ending of the kind k, else nil.
func codeOf(e *regress.Ending, k regress.EndingKind) *int {
	if e == nil || e.Kind != k {
		return nil
	}
	return &e.Code
}

type groupLine struct {
	ID          string     `json:"id"`
	Signature   string     `json:"signature"`
	Cases       int        `json:"cases"`
	Lines       int        `json:"lines"`
	Sole        int        `json:"sole"`
	Example     string     `json:"example" name:"printed"`
	Smallest    string     `json:"smallest" name:"printed"`
	Name        string     `json:"name"`
	Kind        cause.Kind `json:"kind"`
	Family      string     `json:"family"`
	Joined      []string   `json:"joined,omitempty"`
	Folded      []string   `json:"folded"`
	FoldedCount int        `json:"folded_count,omitzero"`
	Excerpt     string     `json:"excerpt"`
	Members     []string   `json:"members" name:"printed"`
}

// maskedLine has the counts of masked parts that scripts rely on.
type maskedLine struct {
	Cases int `json:"masked_cases"`
	Parts int `json:"masked_parts"`
	Lines int `json:"masked_lines"`
	Whole int `json:"masked_whole"`
}

func maskedLineOf(m regress.Masked) maskedLine {
	return maskedLine{m.Cases, m.Parts, m.Holes.Lines, m.Holes.Whole}
}

// recordLine is the last line of a record.
type recordLine struct {
	Command         string `json:"command"`
	Run             string `json:"run"`
	Cases           int    `json:"cases"`
	Recorded        int    `json:"recorded"`
	Flaky           int    `json:"flaky"`
	regress.Endings `json:",inline"`
	Environment     int `json:"environment"`
	NotRun          int `json:"not_run"`
	maskedLine      `json:",inline"`
	Interrupted     bool           `json:"interrupted"`
	Wall            time.Duration  `json:"wall_ms"`
	CPU             *time.Duration `json:"cpu_ms"`
	OwnCPU          time.Duration  `json:"own_cpu_ms"`
	CoresBusy       float64        `json:"cores_busy"`
	Failing         []failureLine  `json:"failing"`
	Engine          *engineLine    `json:"engine,omitzero"`
	regress.Summary `json:",inline"`
}

type failureLine struct {
	Name   string         `json:"name" name:"printed"`
	Ending string         `json:"ending"`
	Line   string         `json:"error"`
	Ended  regress.Ending `json:"ended"`
}

func recordLineOf(s regress.Summary) recordLine {
	l := recordLine{
		Command: s.Command, Run: s.Run, Cases: s.Cases, Recorded: s.Recorded, Flaky: s.Verdicts[regress.Flaky], Endings: s.Endings,
		Environment: s.Verdicts[regress.EnvironmentFailed], NotRun: s.NotRun, maskedLine: maskedLineOf(s.Masked), Interrupted: s.Interrupted,
		Wall: s.Wall, CPU: known(s.CPU, s.IsMeasured()), OwnCPU: s.OwnCPU, CoresBusy: s.CoresBusy, Engine: engineLineOf(s.Engine), Summary: s,
	}
	for _, f := range s.Failing {
		l.Failing = append(l.Failing, failureLine{f.Name, f.Ending.String(), f.Line, f.Ending})
	}
	return l
}

// checkLine is the last line of a comparison.
type checkLine struct {
	Command         string `json:"command"`
	Run             string `json:"run"`
	Cases           int    `json:"cases"`
	Identical       int    `json:"identical"`
	Changed         int    `json:"changed"`
	NewlyFailing    int    `json:"newly_failing"`
	NewlyPassing    int    `json:"newly_passing"`
	Crashed         int    `json:"crashed"`
	TimedOut        int    `json:"timed_out"`
	OutOfMemory     int    `json:"out_of_memory"`
	OutputLimit     int    `json:"output_limit"`
	Flaky           int    `json:"flaky"`
	New             int    `json:"new"`
	Missing         int    `json:"missing"`
	Environment     int    `json:"environment"`
	NotRun          int    `json:"not_run"`
	DifferedOnce    int    `json:"differed_once"`
	maskedLine      `json:",inline"`
	SourcesChanged  int            `json:"sources_changed"`
	ToolChanged     []string       `json:"tool_changed" name:"printed"`
	Interrupted     bool           `json:"interrupted"`
	Groups          int            `json:"groups"`
	Wall            time.Duration  `json:"wall_ms"`
	CPU             *time.Duration `json:"cpu_ms"`
	OwnCPU          time.Duration  `json:"own_cpu_ms"`
	CoresBusy       float64        `json:"cores_busy"`
	SharedChanged   int            `json:"shared_changed"`
	NotSampled      int            `json:"not_in_sample"`
	Cost            *costSummary   `json:"cost"`
	Engine          *engineLine    `json:"engine,omitzero"`
	Reused          int            `json:"reused"`
	regress.Summary `json:",inline"`
}

func checkLineOf(s regress.Summary, c *Cost) checkLine {
	v := s.Verdicts
	return checkLine{
		s.Command, s.Run, s.Cases, v[regress.Identical], v[regress.Changed], v[regress.NewlyFailing], v[regress.NewlyPassing], v[regress.Crashed],
		v[regress.NewlyTimedOut], v[regress.NewlyOutOfMemory], v[regress.NewlyOutputLimited], v[regress.Flaky], v[regress.New], v[regress.Missing],
		v[regress.EnvironmentFailed], s.NotRun, v[regress.DifferedOnce], maskedLineOf(s.Masked), s.Sources.Changed, s.ToolChanged, s.Interrupted, s.Groups,
		s.Wall, known(s.CPU, s.IsMeasured()), s.OwnCPU, s.CoresBusy, s.Sources.SharedDiffering(), s.NotSampled, costSummaryOf(c), engineLineOf(s.Engine), s.Reused, s,
	}
}

// engineLine describes the runs on an engine.
type engineLine struct {
	Cached             int            `json:"cached"`
	Executed           int            `json:"executed"`
	Asked              time.Duration  `json:"asked_ms"`
	Queued             *time.Duration `json:"queued_ms"` // nil if some are not known
	Took               time.Duration  `json:"took_ms"`
	Workers            int            `json:"workers"`
	Sent               int64          `json:"sent_bytes"`
	Received           int64          `json:"received_bytes"`
	regress.EngineRuns `json:",inline"`
}

func engineLineOf(r *regress.EngineRuns) *engineLine {
	if r == nil {
		return nil
	}
	return &engineLine{r.Cached, r.Executed, r.Asked, known(r.Queued, r.QueuesKnown >= r.Executed), r.Took, len(r.Workers), r.Sent, r.Received, *r}
}

// costSummary is the cost of the change in the last line. Scripts rely on its keys.
type costSummary struct {
	CPU        *float64 `json:"cpu"` // null if the pairs decide nothing
	CPULow     *float64 `json:"cpu_low"`
	CPUHigh    *float64 `json:"cpu_high"`
	Memory     *float64 `json:"memory"`
	MemoryLow  *float64 `json:"memory_low"`
	MemoryHigh *float64 `json:"memory_high"`
	TooLittle  bool     `json:"too_little"` // the pairs decide nothing about CPU time
	Cases      int      `json:"cases"`
	Pairs      int      `json:"pairs"`
	Indicative bool     `json:"indicative"`
	Over       []string `json:"over"`
}

// costSummaryOf returns nil if there are no figures.
func costSummaryOf(c *Cost) *costSummary {
	if c == nil || !c.CPU.IsKnown() {
		return nil
	}
	s := &costSummary{CPU: c.value(c.CPU), TooLittle: c.vague(c.CPU), Cases: c.Measured, Pairs: c.Pairs, Indicative: c.Indicative, Over: c.Over}
	s.CPULow, s.CPUHigh = ends(c.CPU)
	if c.Memory.IsKnown() {
		s.Memory = c.value(c.Memory)
		s.MemoryLow, s.MemoryHigh = ends(c.Memory)
	}
	return s
}

func (c *Cost) value(r cost.Ratio) *float64 { return known(thousandths(r.Value), !c.vague(r)) }

func ends(r cost.Ratio) (low, high *float64) {
	return known(thousandths(r.Low), r.Bounded()), known(thousandths(r.High), r.Bounded())
}

// thousandths rounds a ratio to its significant digits.
func thousandths(ratio float64) float64 { return math.Round(ratio*1000) / 1000 }
