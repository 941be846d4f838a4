// Package run makes trials: each figure in a process of its own, every one as often as is
// asked for, in turns with what it is compared with; kept as soon as it is there, so that
// an interrupted run goes on where it ended.
//
// It does not know what a trial is for, nor what results mean: package lab plans, and
// reports.
package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/lab/results"
)

// A Plan is the trials of a run, and what has come of them.
type Plan struct {
	Results *results.Results

	options *Options
	trials  []Trial
	have    map[string]int           // measurements of each trial that there are
	took    map[string]time.Duration // by the last one of each
	head    *results.Results         // what is known before anything is measured
	begun   bool                     // the journal is written to
	earlier *results.Results         // of an interrupted run; empty = there is none
}

// New begins the results of a question, with what an interrupted run left; more are
// conditions beside those that every run has, which must be as they were then.
func New(o *Options, question string, more ...results.Pair) (*Plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Plan{options: o, have: map[string]int{}, took: map[string]time.Duration{}, earlier: &results.Results{}}
	first := []results.Pair{{Key: results.FormatKey, Value: results.FormatVersion}, {Key: "question", Value: question}}
	p.Results = &results.Results{Conditions: slices.Concat(first, more, conditions(o.Version))}
	if o.Earlier == nil {
		return p, nil
	}
	earlier, err := results.Read(o.Earlier)
	if err != nil {
		return nil, inputf("what an earlier run left: %w: measure anew", err)
	}
	if earlier.Empty() {
		return p, nil // it was ended before its first figure
	}
	if err := sameConditions(earlier.Conditions, p.Results.Conditions); err != nil {
		return nil, err
	}
	p.earlier = earlier
	return p, nil
}

// AddCondition adds one that is known only now, and must be as an earlier run had it. What
// that run had none of gets it in the journal before its first figure.
func (p *Plan) AddCondition(c results.Pair) error {
	if slices.Contains(p.Results.Conditions, c) {
		return nil
	}
	p.Results.Conditions = append(p.Results.Conditions, c)
	if p.earlier.Empty() {
		return nil
	}
	if !slices.ContainsFunc(p.earlier.Conditions, func(had results.Pair) bool { return had.Key == c.Key }) {
		if p.options.Journal == nil {
			return nil
		}
		_, err := fmt.Fprintf(p.options.Journal, "%s: %s\n", c.Key, c.Value)
		return err
	}
	return sameConditions(p.earlier.Conditions, []results.Pair{c})
}

// takeOver takes from an earlier run what is wanted now, each figure as often as it is
// wanted. What was left out then is wanted now, or left out again.
func (p *Plan) takeOver() {
	planned := map[string]bool{}
	for _, t := range p.trials {
		planned[t.Name] = true
	}
	for _, s := range p.earlier.Samples {
		if planned[s.Name] && p.have[s.Name] < p.options.Count {
			p.have[s.Name]++
			p.Results.Samples = append(p.Results.Samples, s)
		}
	}
	for _, a := range p.earlier.Absent {
		if planned[a.Name] && !again(a.Why) {
			p.Results.Absent = append(p.Results.Absent, a)
		}
	}
}

// again reports whether a figure that is absent for that reason is tried again.
func again(why string) bool { return why == results.TooLong || strings.HasPrefix(why, results.Failed) }

// Add adds a trial.
func (p *Plan) Add(t Trial) { p.trials = append(p.trials, t) }

// AddShort adds a trial, unless it would take longer than most by estimate; 0 is no limit.
func (p *Plan) AddShort(t Trial, most time.Duration) {
	if most > 0 && t.Estimate > most {
		p.Results.Absent = append(p.Results.Absent, results.Absent{Name: t.Name, Why: results.TooLong})
		return
	}
	p.Add(t)
}

// Probe is a trial of this program's own: what it measures, and its flags.
func (p *Plan) Probe(name string, estimate time.Duration, args ...string) Trial {
	return Trial{Name: name, Estimate: estimate, Command: slices.Concat(p.options.Probe, args)}
}

// Measure takes every figure that is not there yet: in rounds, so that what is compared
// is measured at the same time, and begins each round with another.
func (p *Plan) Measure(ctx context.Context) error {
	p.takeOver()
	head := *p.Results
	p.head = &head
	for round := range p.options.Count {
		for i := range p.trials {
			t := &p.trials[(i+round)%len(p.trials)]
			if p.have[t.Name] > round || p.left(t) == 0 {
				continue
			}
			p.report(t.Name)
			if err := p.take(ctx, t); err != nil {
				for i := range p.trials {
					p.Results.NotRun += p.left(&p.trials[i])
				}
				return err
			}
		}
	}
	p.report("")
	return nil
}

// left is how often a trial is still to be made.
func (p *Plan) left(t *Trial) int {
	if p.Results.Why(t.Name) != "" {
		return 0
	}
	return max(0, p.times(t)-p.have[t.Name])
}

// times is how often a trial is to be made in all.
func (p *Plan) times(t *Trial) int {
	if t.Times > 0 {
		return min(t.Times, p.options.Count)
	}
	return p.options.Count
}

// keep writes a result into the journal: the first one after all that is known besides,
// unless the journal has it.
func (p *Plan) keep(line string) error {
	to := p.options.Journal
	if to == nil {
		return nil
	}
	if !p.begun && p.earlier.Empty() {
		if err := p.head.Write(to); err != nil {
			return err
		}
	}
	p.begun = true
	_, err := io.WriteString(to, line+"\n")
	return err
}

// take takes one figure and keeps it, as it will be read again.
func (p *Plan) take(ctx context.Context, t *Trial) error {
	began := time.Now()
	s, why, err := t.run(ctx)
	if err != nil {
		return err
	}
	p.took[t.Name] = time.Since(began)
	var line string
	if why != "" {
		a := results.Absent{Name: t.Name, Why: why}
		p.Results.Absent = append(p.Results.Absent, a)
		line = a.String()
	} else {
		line = s.String()
		if s, err = results.ParseLine(line); err != nil {
			return err
		}
		p.Results.Samples = append(p.Results.Samples, s)
		p.have[t.Name]++
	}
	return p.keep(line)
}

// report says how far it is.
func (p *Plan) report(next string) {
	if p.options.Progress == nil {
		return
	}
	pr := Progress{Next: next, Left: -1}
	var known, estimated, left time.Duration
	for i := range p.trials {
		if took, ok := p.took[p.trials[i].Name]; ok {
			known, estimated = known+took, estimated+p.trials[i].Estimate
		}
	}
	for i := range p.trials {
		t := &p.trials[i]
		pr.Total += p.times(t)
		pr.Done += p.times(t) - p.left(t)
		each, ok := p.took[t.Name]
		if !ok && estimated > 0 {
			each = time.Duration(float64(t.Estimate) * float64(known) / float64(estimated))
		}
		left += time.Duration(p.left(t)) * each
	}
	if estimated > 0 {
		pr.Left = left
	}
	p.options.Progress(pr)
}
