package lab

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// A plan is the trials of a run, and what has come of them.
type plan struct {
	options *Options
	trials  []trial
	results *Results
	have    map[string]int           // measurements of each trial that there are
	took    map[string]time.Duration // by the last one of each
	earlier *Results                 // of an interrupted run; empty = there is none
}

// newPlan begins the results of a question, with what an interrupted run left; more are
// conditions beside those that every run has, which must be as they were then.
func newPlan(o *Options, question string, more ...Pair) (*plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &plan{options: o, have: map[string]int{}, took: map[string]time.Duration{}, earlier: &Results{}}
	p.results = &Results{Conditions: append([]Pair{{formatKey, formatVersion}, {"question", question}}, append(more, conditions(o.Version)...)...)}
	if o.Earlier == nil {
		return p, nil
	}
	earlier, err := ReadResults(o.Earlier)
	if err != nil {
		return nil, inputf("what an earlier run left: %w: measure anew", err)
	}
	if earlier.empty() {
		return p, nil // it was ended before its first figure
	}
	if err := sameConditions(earlier.Conditions, p.results.Conditions); err != nil {
		return nil, err
	}
	p.earlier = earlier
	return p, nil
}

// addCondition adds one that is known only now, and must be as an earlier run had it. What
// that run had none of gets it in the journal before its first figure.
func (p *plan) addCondition(c Pair) error {
	if slices.Contains(p.results.Conditions, c) {
		return nil
	}
	p.results.Conditions = append(p.results.Conditions, c)
	if p.earlier.empty() {
		return nil
	}
	if !slices.ContainsFunc(p.earlier.Conditions, func(had Pair) bool { return had.Key == c.Key }) {
		if p.options.Journal == nil {
			return nil
		}
		_, err := fmt.Fprintf(p.options.Journal, "%s: %s\n", c.Key, c.Value)
		return err
	}
	return sameConditions(p.earlier.Conditions, []Pair{c})
}

// takeOver takes from an earlier run what is wanted now, each figure as often as it is
// wanted. What was left out then is wanted now, or left out again.
func (p *plan) takeOver() {
	planned := map[string]bool{}
	for _, t := range p.trials {
		planned[t.name] = true
	}
	for _, s := range p.earlier.Samples {
		if planned[s.Name] && p.have[s.Name] < p.options.Count {
			p.have[s.Name]++
			p.results.Samples = append(p.results.Samples, s)
		}
	}
	for _, a := range p.earlier.Absent {
		if planned[a.Name] && a.Why != leftOut {
			p.results.Absent = append(p.results.Absent, a)
		}
	}
}

// add adds a trial, unless it would take too long.
func (p *plan) add(t trial) {
	if most := p.options.EachMax; most > 0 && t.estimate > most {
		p.results.Absent = append(p.results.Absent, Absent{t.name, leftOut})
		return
	}
	p.trials = append(p.trials, t)
}

// has reports whether there is a trial of that name.
func (p *plan) has(name string) bool {
	return slices.ContainsFunc(p.trials, func(t trial) bool { return t.name == name })
}

// leftOut is why a figure is absent that would take too long.
const leftOut = "left out: --full measures it"

// measure takes every figure that is not there yet: in rounds, so that what is compared
// is measured at the same time, and begins each round with another.
func (p *plan) measure(ctx context.Context) error {
	p.takeOver()
	if err := p.beginJournal(); err != nil {
		return err
	}
	for round := range p.options.Count {
		for i := range p.trials {
			t := &p.trials[(i+round)%len(p.trials)]
			if p.have[t.name] > round || p.left(t) == 0 {
				continue
			}
			p.report(t.name)
			if err := p.take(ctx, t); err != nil {
				for i := range p.trials {
					p.results.NotRun += p.left(&p.trials[i])
				}
				return err
			}
		}
	}
	p.report("")
	return nil
}

// left is how often a trial is still to be made.
func (p *plan) left(t *trial) int {
	if p.results.absent(t.name) != "" {
		return 0
	}
	return max(0, p.times(t)-p.have[t.name])
}

// times is how often a trial is to be made in all.
func (p *plan) times(t *trial) int {
	if t.most > 0 {
		return min(t.most, p.options.Count)
	}
	return p.options.Count
}

// beginJournal writes what is known before anything is measured, unless the journal
// has it.
func (p *plan) beginJournal() error {
	if p.options.Journal == nil || !p.earlier.empty() {
		return nil
	}
	return p.results.Write(p.options.Journal)
}

// take takes one figure and keeps it, as it will be read again.
func (p *plan) take(ctx context.Context, t *trial) error {
	began := time.Now()
	s, why, err := t.run(ctx)
	if err != nil {
		return err
	}
	p.took[t.name] = time.Since(began)
	var line string
	if why != "" {
		a := Absent{t.name, string(why)}
		p.results.Absent = append(p.results.Absent, a)
		line = a.String()
	} else {
		line = s.String()
		if s, err = parseLine(line); err != nil {
			return err
		}
		p.results.Samples = append(p.results.Samples, s)
		p.have[t.name]++
	}
	if p.options.Journal == nil {
		return nil
	}
	_, err = io.WriteString(p.options.Journal, line+"\n")
	return err
}

// report says how far it is.
func (p *plan) report(next string) {
	if p.options.Progress == nil {
		return
	}
	pr := Progress{Next: next, Left: -1}
	var known, estimated, left time.Duration
	for i := range p.trials {
		if took, ok := p.took[p.trials[i].name]; ok {
			known, estimated = known+took, estimated+p.trials[i].estimate
		}
	}
	for i := range p.trials {
		t := &p.trials[i]
		pr.Total += p.times(t)
		pr.Done += p.times(t) - p.left(t)
		each, ok := p.took[t.name]
		if !ok && estimated > 0 {
			each = time.Duration(float64(t.estimate) * float64(known) / float64(estimated))
		}
		left += time.Duration(p.left(t)) * each
	}
	if estimated > 0 {
		pr.Left = left
	}
	p.options.Progress(pr)
}
