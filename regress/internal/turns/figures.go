package turns

import (
	"cmp"
	"context"
	"slices"
	"time"

	"muster/internal/wording"
	"muster/regress/internal/cost"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// Measure returns what the change costs, and the limits that it passes.
func (m *Measurement) Measure(ctx context.Context) (report.Cost, error) {
	c, err := m.measure(ctx)
	if err != nil {
		return c, err
	}
	for _, l := range m.o.Limits {
		if l.Passed(c.Estimate) {
			c.Over = append(c.Over, l.String())
		}
	}
	return c, nil
}

// RefuseUndecided returns an error if --fail-on has a limit that the figures do not decide.
func (m *Measurement) RefuseUndecided(c report.Cost) error {
	for _, l := range m.o.Limits {
		if l.Inconclusive(c.Estimate) && !m.o.Rival.same {
			return fault.Inputf("--fail-on %s: too few data decide whether the change passes this limit: %s", l, cmp.Or(c.Why, "run more cases, or keep the machine free of other work"))
		}
	}
	return nil
}

// measure returns what the change costs, or why that is unknown.
func (m *Measurement) measure(ctx context.Context) (c report.Cost, err error) {
	switch r := &m.o.Rival; {
	case !r.isMeasured():
		return report.Cost{Why: r.Why}, nil
	case r.Command == nil:
		return m.compareRecorded()
	}
	if err := m.runRounds(ctx); err != nil {
		return c, err
	}
	began := time.Now()
	c.Estimate = cost.NewEstimate(m.pairs, m.executor.Floor())
	if err := m.confirm(ctx, &c.Estimate); err != nil {
		return c, err
	}
	switch why := m.o.Rival.explainChange(); {
	case why != "": // it may also be why the rival could not run
		return report.Cost{Why: why}, nil
	case m.broken != nil:
		return report.Cost{Why: "the golden's command could not run: " + wording.Of(m.broken)}, nil
	}
	c.Took, c.Against = m.took+time.Since(began), m.o.Rival.moved
	if c.Measured = len(c.Cases); c.Measured == 0 {
		c.Why = "no case ended with the same exit status in both commands"
		if len(m.pairs) > 0 {
			c.Why = "no run took measurable CPU time"
		}
		return c, nil
	}
	c.Cases = sampleEvenly(c.Cases, report.CostCasesMax)
	return c, nil
}

// compareRecorded compares with the recorded costs. They were measured under another load, perhaps
// on another machine.
func (m *Measurement) compareRecorded() (c report.Cost, err error) {
	c.Why = m.o.Rival.Why
	var pairs []cost.Pair
	for _, one := range sampleEvenly(slices.Concat(m.paired, m.cases), report.CostCasesMax) {
		old, known, err := m.o.Get(one.name())
		if err != nil {
			return c, err
		}
		if known {
			pairs = append(pairs, cost.Pair{Case: one.name(), Old: old.Cost, New: one.cost})
		}
	}
	c.Estimate, c.Indicative = cost.NewEstimate(pairs, m.executor.Floor()), true
	c.Measured = len(c.Cases)
	// An interval would show how the cases scatter, not how the days differ.
	c.CPU.Low, c.CPU.High, c.Memory.Low, c.Memory.High = 0, 0, 0, 0
	c.Warnings = nil
	return c, nil
}

// sampleEvenly returns at most n evenly spaced elements.
func sampleEvenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	picked := make([]T, n)
	for i := range picked {
		picked[i] = list[i*len(list)/n]
	}
	return picked
}
