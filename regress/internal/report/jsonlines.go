package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"time"

	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// NewJSON returns a Reporter that writes JSON lines to the console's Out after
// the last case, in corpus order, and the summary as the last line. Progress
// goes to Err.
func NewJSON(c Console, v Verbosity) Reporter {
	progress, out := newProgress(c, v)
	return Tee{progress, &jsonLines{w: out, all: v == Verbose}}
}

// jsonLines holds back what is printed, and of that no more than is printed.
type jsonLines struct {
	w     io.Writer
	all   bool
	cases []jsonCase
	found memberships
	costs *Cost
}

// jsonCase is a line; the order of its fields is promised to scripts.
type jsonCase struct {
	index      int
	Type       string          `json:"type"`
	Name       printed         `json:"name"`
	Verdict    outcome.Verdict `json:"verdict"`
	Unstable   bool            `json:"unstable,omitempty"`
	Exit       code            `json:"exit"`
	Signal     code            `json:"signal"`
	GoldenExit code            `json:"golden_exit"`
	CPU        told[tenths]    `json:"cpu_ms"`
	Wall       tenths          `json:"wall_ms"`
	PeakRSS    told[int64]     `json:"peak_rss_kib"`
	Causes     []string        `json:"causes"`
	Why        string          `json:"why,omitempty"` // environment: what failed
	Engine     *jsonEngineRun  `json:"engine,omitempty"`
}

// jsonEngineRun is what an engine said of the first run.
type jsonEngineRun struct {
	Cached bool         `json:"cached"`
	Worker printed      `json:"worker"`
	Queued told[tenths] `json:"queued_ms"`
	Took   tenths       `json:"took_ms"`
}

// told is a figure, or null where nobody measured.
type told[T any] struct {
	is      T
	unknown bool
}

func (t told[T]) MarshalJSON() ([]byte, error) {
	if t.unknown {
		return []byte("null"), nil
	}
	return json.Marshal(t.is)
}

func (j *jsonLines) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Case:
		if j.all || ev.Verdict != outcome.Identical {
			j.cases = append(j.cases, toJSONCase(ev))
		}
	case Group:
		j.found.add(ev)
	case Cost:
		j.costs = &ev
	case Finished:
		return j.write(ev.Summary)
	}
	return nil
}

func (j *jsonLines) Close() error { return nil }

func (j *jsonLines) write(s Summary) error {
	slices.SortStableFunc(j.cases, func(a, b jsonCase) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.Name, b.Name))
	})
	w := bufio.NewWriter(j.w)
	for _, c := range j.cases {
		c.Causes = j.found.ids(string(c.Name))
		if err := EncodeLine(w, c); err != nil {
			return err
		}
	}
	if err := EncodeLine(w, toJSONSummary(s, j.costs)); err != nil {
		return err
	}
	return w.Flush()
}

func toJSONCase(c Case) jsonCase {
	unknown := !c.measured()
	line := jsonCase{
		index: c.Index, Type: "case", Name: printed(c.Name), Verdict: c.Verdict, Unstable: c.Unstable,
		Exit:       codeOf(c.Ending, outcome.Exited),
		Signal:     codeOf(c.Ending, outcome.Signalled),
		GoldenExit: codeOf(c.GoldenEnding, outcome.Exited),
		CPU:        told[tenths]{tenths(c.Cost.CPU), unknown}, Wall: tenths(c.Cost.Wall), PeakRSS: told[int64]{c.Cost.PeakRSS, unknown},
		Why: readable.Text(c.Why),
	}
	if r := c.Engine; r != nil {
		line.Engine = &jsonEngineRun{r.Cached, printed(r.Worker), told[tenths]{tenths(r.Queued), !r.QueueTold}, tenths(r.Took)}
	}
	return line
}

// A code is an exit status or a signal; null when there is none. It is no
// pointer, for there may be very many.
type code struct {
	n  int32
	ok bool
}

func codeOf(e *outcome.Ending, k outcome.Kind) code {
	if e == nil || e.Kind != k {
		return code{}
	}
	return code{int32(e.Code), true}
}

func (c code) MarshalJSON() ([]byte, error) {
	if !c.ok {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(c.n), 10), nil
}

// tenths is a duration written in milliseconds with one decimal.
type tenths time.Duration

func (t tenths) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(t)/float64(time.Millisecond), 'f', 1, 64), nil
}

// hundredths is a number written with two decimals.
type hundredths float64

func (h hundredths) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, finite(float64(h)), 'f', 2, 64), nil
}
