package report

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"slices"

	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/jsonline"
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
	w := bufio.NewWriter(j.w)
	e := jsonline.NewEncoder()
	for _, c := range j.cases {
		line := caseLine(c, j.found.ids(c.Name))
		line.Omit = "differences"
		if err := e.WriteLine(w, line); err != nil {
			return err
		}
	}
	for _, g := range j.groups {
		if err := e.WriteLine(w, eventLine(g, nil)); err != nil {
			return err
		}
	}
	if err := e.WriteLine(w, eventLine(f, j.cost)); err != nil {
		return err
	}
	return w.Flush()
}

// Keys that scripts rely on, in their order. The other keys of a line follow them.
const (
	caseKeys   = "name verdict unstable reused exit signal golden_exit cpu_ms wall_ms peak_rss_kib causes why engine"
	groupKeys  = "id signature cases lines sole example smallest name kind family"
	recordKeys = "command run cases recorded flaky succeeded failed signalled timed_out out_of_memory output_limit environment " +
		"not_run masked_cases masked_parts masked_lines masked_whole interrupted wall_ms cpu_ms own_cpu_ms cores_busy failing engine"
	checkKeys = "command run cases identical changed newly_failing newly_passing crashed timed_out out_of_memory output_limit " +
		"flaky new missing environment not_run differed_once masked_cases masked_parts masked_lines masked_whole sources_changed tool_changed interrupted " +
		"groups wall_ms cpu_ms own_cpu_ms cores_busy shared_changed not_in_sample cost engine reused"
	engineKeys = "cached executed asked_ms queued_ms took_ms workers sent_bytes received_bytes"
)

// eventLine returns the line of an event in an events file.
func eventLine(ev Event, c *Cost) jsonline.Object {
	switch ev := ev.(type) {
	case CaseRan:
		return jsonline.Object{Kind: ev.kind(), Of: ev, More: unknown(ev.Engine.IsMeasured() && !ev.Reused, "cpu_ms")}
	case Case:
		return caseLine(ev, nil)
	case Group:
		return jsonline.Object{Kind: ev.kind(), Of: ev, First: groupKeys}
	case Finished:
		return summaryLine(ev, c)
	}
	return jsonline.Object{Kind: ev.kind(), Of: ev}
}

// unknown returns null members for the keys of figures, or none if the figures are known.
func unknown(isKnown bool, keys ...string) (null []jsonline.Member) {
	for _, key := range keys {
		if !isKnown {
			null = append(null, jsonline.Member{Key: key})
		}
	}
	return null
}

// caseLine returns the line of a case with the IDs of its causes.
func caseLine(c Case, causes []string) jsonline.Object {
	return jsonline.Object{Kind: c.kind(), Of: c, First: caseKeys, More: append(append(unknown(c.measured(), "cpu_ms", "peak_rss_kib"), unknown(!c.Reused, "wall_ms")...),
		jsonline.Member{Key: "exit", Value: codeOf(c.Ending, regress.Exited)},
		jsonline.Member{Key: "signal", Value: codeOf(c.Ending, regress.Signalled)},
		jsonline.Member{Key: "golden_exit", Value: codeOf(c.GoldenEnding, regress.Exited)},
		jsonline.Member{Key: "causes", Value: causes},
	)}
}

// codeOf returns the exit status or the signal of an ending of the kind k, else nil.
func codeOf(e *regress.Ending, k regress.EndingKind) any {
	if e == nil || e.Kind != k {
		return nil
	}
	return e.Code
}

// summaryLine returns the last line of a run. Its counts are those of a record, or those of a
// comparison with the cost of the change.
func summaryLine(f Finished, c *Cost) jsonline.Object {
	s := f.Summary
	if s.Sources.Changed+s.Sources.SharedDiffering() == 0 {
		s.Sources = regress.Sources{}
	}
	o := jsonline.Object{Kind: f.kind(), Of: s, First: recordKeys, More: append(unknown(s.IsMeasured(), "cpu_ms"),
		jsonline.Member{Key: "masked_cases", Value: s.Masked.Cases},
		jsonline.Member{Key: "masked_parts", Value: s.Masked.Parts},
		jsonline.Member{Key: "masked_lines", Value: s.Masked.Holes.Lines},
		jsonline.Member{Key: "masked_whole", Value: s.Masked.Holes.Whole},
	)}
	if s.Engine != nil {
		o.More = append(o.More, jsonline.Member{Key: "engine", Value: engineObject(s.Engine)})
	}
	if s.Command == regress.RecordCommand {
		o.More = append(o.More, recordMembers(s)...)
		return o
	}
	o.First = checkKeys
	for v, n := range s.Verdicts {
		o.More = append(o.More, jsonline.Member{Key: regress.Verdict(v).Key(), Value: n})
	}
	o.More = append(o.More,
		jsonline.Member{Key: "reused", Value: s.Reused},
		jsonline.Member{Key: "sources_changed", Value: s.Sources.Changed},
		jsonline.Member{Key: "shared_changed", Value: s.Sources.SharedDiffering()},
		jsonline.Member{Key: "cost", Value: costSummaryOf(c)},
	)
	return o
}

// recordMembers returns the counts of a record and its first failing cases.
func recordMembers(s regress.Summary) []jsonline.Member {
	failing := []jsonline.Object{}
	for _, f := range s.Failing {
		failing = append(failing, jsonline.Object{Of: f, First: "name ending error", More: []jsonline.Member{{Key: "ending", Value: f.Ending.String()}}})
	}
	return append(jsonline.NewEncoder().Members(s.Endings),
		jsonline.Member{Key: "flaky", Value: s.Verdicts[regress.Flaky]},
		jsonline.Member{Key: "environment", Value: s.Verdicts[regress.EnvironmentFailed]},
		jsonline.Member{Key: "failing", Value: failing},
	)
}

func engineObject(r *regress.EngineRuns) jsonline.Object {
	queued := jsonline.Member{Key: "queued_ms"}
	if r.QueuesKnown >= r.Executed {
		queued.Value = r.Queued
	}
	return jsonline.Object{Of: *r, First: engineKeys, More: []jsonline.Member{queued, {Key: "workers", Value: len(r.Workers)}}}
}

// costSummary is the cost of the change in the last line. Scripts rely on its keys.
type costSummary struct {
	CPU        *float64 `line:"cpu"` // null if the pairs decide nothing
	CPULow     *float64 `line:"cpu_low"`
	CPUHigh    *float64 `line:"cpu_high"`
	Memory     *float64 `line:"memory"`
	MemoryLow  *float64 `line:"memory_low"`
	MemoryHigh *float64 `line:"memory_high"`
	TooLittle  bool     `line:"too_little"` // the pairs decide nothing about CPU time
	Cases      int      `line:"cases"`
	Pairs      int      `line:"pairs"`
	Indicative bool     `line:"indicative"`
	Over       []string `line:"over"`
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

func (c *Cost) value(r cost.Ratio) *float64 {
	if c.vague(r) {
		return nil
	}
	value := thousandths(r.Value)
	return &value
}

func ends(r cost.Ratio) (low, high *float64) {
	if !r.Bounded() {
		return nil, nil
	}
	l, h := thousandths(r.Low), thousandths(r.High)
	return &l, &h
}

// thousandths rounds a ratio to its significant digits.
func thousandths(ratio float64) float64 { return math.Round(ratio*1000) / 1000 }

// finite returns x, or 0 for infinities and NaN, which readers of numbers reject.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
