package lab

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/lab/probe"
	"muster/lab/results"
)

// A planner holds the trials of a run and their results. It measures them in turns, as often as the
// options say. Each result goes to the journal at once, so that an interrupted run can continue.
type planner struct {
	Results *results.Results

	options   *Options
	trials    []trial
	counts    map[string]int           // measurements of each trial so far
	durations map[string]time.Duration // duration of the last measurement of each trial
	head      strings.Builder          // for a new journal, before the first result: conditions and missing contestants
	earlier   *results.Results         // results of an interrupted run; may be empty
}

// newPlanner starts the results of a question from those of an interrupted run. The usual conditions,
// and those of the parameter more, must equal those of the interrupted run.
func newPlanner(o *Options, question string, more ...results.Pair) (*planner, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &planner{options: o, counts: map[string]int{}, durations: map[string]time.Duration{}, earlier: &results.Results{}}
	first := []results.Pair{{Key: results.FormatKey, Value: results.FormatVersion}, {Key: "question", Value: question}}
	p.Results = &results.Results{Conditions: slices.Concat(first, more, currentConditions(o.Version))}
	if o.Earlier == nil {
		return p, nil
	}
	earlier, err := results.Read(o.Earlier)
	if err != nil {
		return nil, inputf("the results of the earlier run are unusable: %w: measure again without them", err)
	}
	if earlier.Empty() {
		return p, nil // interrupted before its first figure
	}
	if err := checkConditions(earlier.Conditions, p.Results.Conditions); err != nil {
		return nil, err
	}
	p.earlier = earlier
	p.Results.Conditions = slices.Clone(earlier.Conditions) // those of the figures, such as the load
	return p, nil
}

// addCondition adds a condition that became known only now. It fails if the interrupted run
// had another value. If that run lacks the condition, it is written to the journal before this
// run's first figure.
func (p *planner) addCondition(c results.Pair) error {
	if slices.ContainsFunc(p.Results.Conditions, func(had results.Pair) bool { return had.Key == c.Key }) {
		return checkConditions(p.Results.Conditions, []results.Pair{c})
	}
	p.Results.Conditions = append(p.Results.Conditions, c)
	if p.earlier.Empty() || p.options.Journal == nil {
		return nil
	}
	_, err := fmt.Fprintf(p.options.Journal, "%s: %s\n", c.Key, c.Value)
	return err
}

// adoptEarlier copies the planned results of the interrupted run, at most Count for each
// figure. Figures that were left out or failed are measured again.
func (p *planner) adoptEarlier() {
	planned := map[string]bool{}
	for _, t := range p.trials {
		planned[t.Name] = true
	}
	for _, s := range p.earlier.Samples {
		if planned[s.Name] && p.counts[s.Name] < p.options.Count {
			p.counts[s.Name]++
			p.Results.Samples = append(p.Results.Samples, s)
		}
	}
	for _, a := range p.earlier.Absent {
		if planned[a.Name] && a.Why != results.TooLong && !strings.HasPrefix(a.Why, results.Failed) {
			p.Results.Absent = append(p.Results.Absent, a)
		}
	}
}

// add adds a trial, unless its estimate alone exceeds its limit.
func (p *planner) add(t trial) {
	if t.EachMax > 0 && t.Smaller == "" && t.Estimate > t.EachMax {
		p.Results.Absent = append(p.Results.Absent, results.Absent{Name: t.Name, Why: results.TooLong})
		return
	}
	if t.Helper != nil {
		t.Words = slices.Concat(t.Words, p.options.Probe, probe.Args(t.Helper))
	}
	if t.Question != nil {
		t.command = slices.Concat(p.options.Probe, probe.Args(t.Question, t.Words...))
	}
	p.trials = append(p.trials, t)
}

// measure measures every figure that is not there yet. It works in rounds, so that compared
// figures are measured at the same time. Each round starts with another trial.
func (p *planner) measure(ctx context.Context) error {
	p.adoptEarlier()
	if p.earlier.Empty() {
		if err := p.Results.Write(&p.head); err != nil {
			return err
		}
	}
	for round := range p.options.Count {
		for i := range p.trials {
			t := &p.trials[(i+round)%len(p.trials)]
			if p.counts[t.Name] > round || p.remaining(t) == 0 {
				continue
			}
			if p.isTooLong(t) {
				if err := p.addAbsent(t.Name, results.TooLong); err != nil {
					return err
				}
				continue
			}
			p.reportProgress(t.Name)
			if err := p.measureOnce(ctx, t); err != nil {
				for i := range p.trials {
					p.Results.NotRun += p.remaining(&p.trials[i])
				}
				return err
			}
		}
	}
	p.reportProgress("")
	return nil
}

// isTooLong reports whether a trial without a figure would exceed its limit. It also does if the smaller trial was
// left out.
func (p *planner) isTooLong(t *trial) bool {
	if t.EachMax == 0 || p.counts[t.Name] > 0 {
		return false
	}
	each := t.Estimate
	if figures := p.Results.Figures(t.Smaller, results.NsPerOp); len(figures) > 0 {
		each = time.Duration(figures[0] * float64(t.Ops))
	}
	return each > t.EachMax || p.Results.Why(t.Smaller) == results.TooLong
}

// addAbsent records that a trial has no figure.
func (p *planner) addAbsent(name, why string) error {
	a := results.Absent{Name: name, Why: why}
	p.Results.Absent = append(p.Results.Absent, a)
	return p.writeJournal(a.String())
}

// remaining returns how many measurements of a trial are still to be made.
func (p *planner) remaining(t *trial) int {
	if p.Results.Why(t.Name) != "" {
		return 0
	}
	return max(0, p.runsWanted(t)-p.counts[t.Name])
}

// runsWanted returns how many measurements of a trial are to be made in all.
func (p *planner) runsWanted(t *trial) int {
	if t.Times > 0 {
		return min(t.Times, p.options.Count)
	}
	return p.options.Count
}

// writeJournal writes a result to the journal. The first result of a new journal follows the
// conditions.
func (p *planner) writeJournal(line string) error {
	if p.options.Journal == nil {
		return nil
	}
	_, err := io.WriteString(p.options.Journal, p.head.String()+line+"\n")
	p.head.Reset()
	return err
}

// measureOnce makes one measurement and writes it to the journal. It keeps the figure with the
// precision of the journal.
func (p *planner) measureOnce(ctx context.Context, t *trial) error {
	began := time.Now()
	before := readProcessors("/proc")
	s, why, err := t.run(ctx)
	if err != nil {
		return err
	}
	p.durations[t.Name] = time.Since(began)
	if share, ok := readProcessors("/proc").disturbance(before); ok {
		s.Values = append(s.Values, results.Value{Unit: results.DisturbedUnit, Figure: share})
	}
	if why != "" {
		return p.addAbsent(t.Name, why)
	}
	line := s.String()
	if s, err = results.ParseLine(line); err != nil {
		return err
	}
	p.Results.Samples = append(p.Results.Samples, s)
	p.counts[t.Name]++
	return p.writeJournal(line)
}

// reportProgress reports the state of the run and an estimate of the time left.
func (p *planner) reportProgress(next string) {
	if p.options.Progress == nil {
		return
	}
	pr := Progress{Next: next, Left: -1}
	var known, estimated, left time.Duration
	for i := range p.trials {
		if took, ok := p.durations[p.trials[i].Name]; ok {
			known, estimated = known+took, estimated+p.trials[i].Estimate
		}
	}
	for i := range p.trials {
		t := &p.trials[i]
		pr.Total += p.runsWanted(t)
		pr.Done += p.runsWanted(t) - p.remaining(t)
		each, ok := p.durations[t.Name]
		if !ok && estimated > 0 {
			each = time.Duration(float64(t.Estimate) * float64(known) / float64(estimated))
		}
		left += time.Duration(p.remaining(t)) * each
	}
	if estimated > 0 {
		pr.Left = left
	}
	p.options.Progress(pr)
}
