// Package turns measures what a change costs. Input: the cases of a check, and a rival: the reference
// command with which the candidate's cost is compared. Both run on each case, one right after the
// other, and take turns in going first. Output: estimates of the costs.
//
// It gives no verdict on a case, and knows no options of users and no state folder: its caller
// emits the reports.
package turns

import (
	"math/rand/v2"
	"time"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/cost"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// Options say what a Measurement measures, and how.
type Options struct {
	Rival     Rival
	Limits    []cost.Limit // of --fail-on
	CostCases int          // cases of a round
	FailFast  bool         // the run may end with its first difference
	Lanes     int          // cases that run at once; 0 = one, without a pool
	FirstPass int          // number of the first pass of a Measurement
	Began     time.Time    // when the whole run began
	// Get returns the recorded outcome of a case.
	Get func(caseName string) (golden.Record, bool, error)
	// Command returns the candidate's command for a case.
	Command func(caseName string) *exec.Command
	Sink    Sink
}

// A Sink takes what a Measurement reports. Several goroutines call Emit, one calls the others.
type Sink struct {
	Emit   func(report.Event)
	AddCPU func(time.Duration) // used by runs of both commands
}

// roundsMax bounds the rounds of runs for the figures alone.
const roundsMax = 50

// A Measurement measures what a change costs.
type Measurement struct {
	o        Options
	executor exec.Executor
	paired   []caseCost // cases that ran in turns before they had their verdict
	cases    []caseCost // further cases that can be measured; of many, a random choice
	further  int        // how many those were chosen from
	random   *rand.Rand
	pairs    []cost.Pair    // runs of both commands, one right after the other
	tried    map[string]int // how often such runs were made, by case
	broken   error          // of the rival
	took     time.Duration  // by runs for the figures alone
}

// caseCost is the cost of the first run of a case.
type caseCost struct {
	task pass.Task
	cost outcome.Cost
}

func (c caseCost) name() string { return c.task.Entry.Name }

// New returns a Measurement. It refuses limits that no measurement could decide.
func New(o Options) (*Measurement, error) {
	m := &Measurement{o: o, tried: map[string]int{}, random: rand.New(rand.NewPCG(0, 0))}
	switch r := &o.Rival; {
	case len(o.Limits) == 0:
	case o.CostCases == 0:
		return nil, fault.Inputf("--fail-on %s: --cost-cases 0 measures no cost: leave out one of these flags", o.Limits[0])
	case r.Command == nil && !r.same:
		return nil, fault.Inputf("--fail-on %s: %s, so both commands cannot run in turns, and times of different days cannot be compared: record with an executable that stays where it is, or use muster compare", o.Limits[0], r.Why)
	}
	return m, nil
}

// Start sets the executor of the runs. Its results are not settled.
func (m *Measurement) Start(e exec.Executor) { m.executor = e }

// AddCase adds a case with its verdict. Of a million cases it keeps no more than all rounds may run, or
// a report shows.
func (m *Measurement) AddCase(t pass.Task, c *report.Case) {
	r := &m.o.Rival
	if !r.isMeasured() || m.o.CostCases == 0 || r.Command != nil && !r.Runs(t.Entry.Name) {
		return
	}
	if !comparable(c.GoldenEnding, c.Ending) || c.Verdict == regress.EnvironmentFailed {
		return
	}
	one := caseCost{t, c.Cost}
	if m.tried[t.Entry.Name] > 0 { // confirm may need it
		m.paired = append(m.paired, one)
		return
	}
	m.further++
	if most := max(report.CostCasesMax, roundsMax*m.o.CostCases); len(m.cases) < most {
		m.cases = append(m.cases, one)
	} else if i := m.random.IntN(m.further); i < most { // so each has the same chance (reservoir sampling)
		m.cases[i] = one
	}
}

// ChooseCases returns the indexes of the cases on which the rival should run right before or after
// the first run of the candidate. That spares a second run of the candidate. If the run may end
// with the first difference, ChooseCases returns none, as their runs might be useless.
func (m *Measurement) ChooseCases(cases []corpus.Entry) (chosen map[int]bool, err error) {
	if m.o.FailFast || m.o.Rival.Command == nil {
		return nil, nil
	}
	chosen = map[int]bool{}
	r := rand.New(rand.NewPCG(uint64(len(cases)), 0))
	for _, i := range r.Perm(len(cases)) {
		if len(chosen) == m.o.CostCases {
			break
		}
		if !m.o.Rival.Runs(cases[i].Name) {
			continue
		}
		old, known, err := m.o.Get(cases[i].Name)
		if err != nil {
			return nil, err
		}
		if known && comparable(&old.Outcome.Ending, &old.Outcome.Ending) {
			chosen[i] = true
		}
	}
	return chosen, nil
}

// AddFirst adds the first run of a case and the rival's run beside it.
func (m *Measurement) AddFirst(t pass.Task, both *Turn) {
	m.tried[t.Entry.Name]++
	m.o.Sink.AddCPU(both.costs[OldRun].CPU)
	if !m.o.Rival.compared {
		m.took += both.costs[OldRun].Wall / time.Duration(max(1, m.o.Lanes))
	}
	if both.errs[OldRun] != nil {
		m.broken = both.errs[OldRun]
	}
	if p, ok := both.pair(t); ok {
		m.pairs = append(m.pairs, p)
	}
}

// The sides of a Turn.
const (
	OldRun = 0 // the rival's
	NewRun = 1 // the candidate's
)

// A Turn is a run of each command on one case.
type Turn struct {
	costs   [2]outcome.Cost
	endings [2]regress.Ending
	errs    [2]error
	ran     [2]bool
}

// Record records the run of one side, or its failure.
func (b *Turn) Record(side int, r *exec.Result, err error) {
	b.ran[side] = true
	if b.errs[side] = err; err == nil {
		b.costs[side], b.endings[side] = r.Cost, r.Outcome.Ending
	}
}

// Err returns why the run of one side failed.
func (b *Turn) Err(side int) error { return b.errs[side] }

// pair returns the costs of both runs, if they did the same work.
func (b *Turn) pair(t pass.Task) (p cost.Pair, ok bool) {
	ok = b.errs[OldRun] == nil && b.errs[NewRun] == nil && comparable(&b.endings[OldRun], &b.endings[NewRun])
	return cost.Pair{Case: t.Entry.Name, Old: b.costs[OldRun], New: b.costs[NewRun]}, ok
}

// comparable reports whether runs that ended so did the same work. The time says nothing if only
// one of them failed, or if a limit or a signal ended them.
func comparable(old, now *regress.Ending) bool {
	return old != nil && now != nil && *old == *now && old.Kind == regress.Exited
}
