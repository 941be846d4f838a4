package past

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// caseRun is what a past run keeps of one case. Scripts rely on the keys and their order.
type caseRun struct {
	Type     string           `json:"type"`
	Run      string           `json:"run"`
	Command  string           `json:"command"`
	Started  time.Time        `json:"started"`
	Name     string           `json:"name"`     // in printed form
	Verdict  *regress.Verdict `json:"verdict"`  // nil for a record
	Unstable bool             `json:"unstable"` // as in state.Result
	Accepted bool             `json:"accepted"`
	Exit     *int             `json:"exit"`   // of the first run; nil if it did not exit
	Signal   *int             `json:"signal"` // likewise
	CPU      *float64         `json:"cpu_ms"` // this and the next two are of the first run; nil if unknown
	Wall     *float64         `json:"wall_ms"`
	PeakRSS  *int64           `json:"peak_rss_kib"`
	Reused   bool             `json:"reused,omitempty"` // the outcome is that of an earlier check

	ending *regress.Ending
	cost   outcome.Cost
}

// History lists the past runs in which a case ran or was missing, oldest first: verdict, ending
// and cost. It continues after a run that cannot be read, and returns an error that names it.
func History(ctx context.Context, o regress.Options, h host.Host, typed string) error {
	raw, err := name.ParseTyped(typed)
	if err != nil {
		return err
	}
	runs, unreadable, err := state.List(state.Open(o.Store.State))
	if err != nil {
		return err
	}
	found := 0
	var others []string // names of other cases, to suggest one
	for _, r := range runs {
		line, names, err := findCase(ctx, &o, h, r, raw)
		if err != nil {
			unreadable = errors.Join(unreadable, err)
			continue
		}
		if line == nil {
			others = append(others, names...)
			continue
		}
		found++
		if err := line.print(h.Stdout, o.Report.Format); err != nil {
			return err
		}
	}
	if found == 0 && unreadable == nil {
		slices.Sort(others)
		return fault.Inputf("no past run in %s has a case %s%s: muster cases lists the cases", o.Store.State, name.Print(raw), name.Near(raw, slices.Compact(others)))
	}
	return unreadable
}

// findCase returns what a run keeps of a case. If the run lacks the case, it returns nil and the
// names of other cases.
func findCase(ctx context.Context, o *regress.Options, h host.Host, r *state.Run, raw string) (*caseRun, []string, error) {
	c := &caseRun{Type: "case_run", Run: r.ID, Command: r.Command, Started: r.Started.UTC(), Name: name.Print(raw)}
	if r.Command == regress.RecordCommand {
		return c.fromGolden(ctx, o, h, r, raw)
	}
	var l *state.Line
	var names []string
	for line, err := range r.ReadLines() {
		if err != nil {
			return nil, nil, err
		}
		if string(line.Name) == raw {
			l = line
			break
		}
		names = append(names, string(line.Name))
	}
	results, err := r.Results()
	if err != nil {
		return nil, nil, err
	}
	result := slices.IndexFunc(results, func(r state.Result) bool { return string(r.Name) == raw })
	if l == nil && result < 0 {
		return nil, names, nil
	}
	verdict := regress.Identical
	if l != nil {
		c.Reused = l.Reused
		if c.setEnding(regress.Ending{Kind: l.Kind, Code: l.Code}); l.Engine.IsMeasured() && !l.Reused && !l.Forked {
			c.setCost(outcome.Cost{CPU: time.Duration(l.CPU), Wall: time.Duration(l.Wall), PeakRSS: l.Peak})
		}
		if !l.Identical && !r.Finished {
			verdict = regress.DifferedOnce // or a stronger one of the results
		}
	}
	if result >= 0 {
		verdict, c.Unstable, c.Accepted = results[result].Verdict, results[result].Unstable, results[result].Accepted
		c.Reused = results[result].Reused
	}
	c.Verdict = &verdict
	return c, nil, nil
}

// fromGolden completes c with what a record wrote into its golden, which keeps it until another
// record replaces it. An accept replaces the outcome of a case, but not the golden's run.
func (c *caseRun) fromGolden(ctx context.Context, o *regress.Options, h host.Host, r *state.Run, raw string) (_ *caseRun, names []string, err error) {
	p, err := pastrun.New(r, o, h, "")
	if err != nil {
		return nil, nil, err
	}
	base, err := place.OpenIfAny(ctx, p.Options.Store.Golden, place.NewOptions(p.Options.Store.State, h.Files))
	if base == nil || err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	if base.Meta().Run != r.ID {
		return nil, nil, nil
	}
	rec, known, err := base.Get(raw)
	if err != nil || !known {
		return nil, slices.Collect(base.Names()), err
	}
	if rec.Origin == 0 {
		c.setEnding(rec.Outcome.Ending)
		c.setCost(rec.Cost)
	}
	return c, nil, nil
}

func (c *caseRun) setEnding(e regress.Ending) {
	c.ending = &e
	switch e.Kind {
	case regress.Exited:
		c.Exit = &e.Code
	case regress.Signalled:
		c.Signal = &e.Code
	}
}

func (c *caseRun) setCost(cost outcome.Cost) {
	if cost == (outcome.Cost{}) {
		return // an imported golden has no costs
	}
	milliseconds := func(d time.Duration) *float64 {
		ms := float64(d) / float64(time.Millisecond)
		return &ms
	}
	c.cost = cost
	c.CPU, c.Wall, c.PeakRSS = milliseconds(cost.CPU), milliseconds(cost.Wall), &cost.PeakRSS
}

func (c *caseRun) print(w io.Writer, format regress.Format) error {
	if format == regress.JSON {
		return report.EncodeLine(w, c)
	}
	_, err := fmt.Fprintf(w, "%s  %s  %-7s  %s\n", c.Run, c.Started.Local().Format(time.DateTime), c.Command, strings.Join(c.fields(), ", "))
	return err
}

// fields describes the case for people.
func (c *caseRun) fields() []string {
	word := "recorded"
	if c.Verdict != nil {
		word = c.Verdict.String()
	}
	list := []string{word}
	if c.Reused {
		list = append(list, "reused")
	}
	if c.Unstable {
		list = append(list, "unstable")
	}
	if c.Accepted {
		list = append(list, "accepted")
	}
	switch {
	case c.ending != nil:
		list = append(list, c.ending.String())
	case c.Verdict == nil:
		list = append(list, "replaced by an accept")
	}
	if c.CPU != nil {
		list = append(list, "CPU "+readable.Duration(c.cost.CPU), readable.BinarySize(c.cost.PeakRSS<<10))
	}
	return list
}

// HistoryCompletions returns the cases of the last run that kept a line of each.
func HistoryCompletions(o regress.Options) (list []Completion, err error) {
	runs, err := state.Open(o.Store.State).Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		for l, err := range r.ReadLines() {
			if err != nil {
				break
			}
			list = append(list, Completion{Word: name.Typed(string(l.Name))})
		}
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b Completion) int { return cmp.Compare(a.Word, b.Word) })
		return list, nil
	}
	return nil, nil
}
