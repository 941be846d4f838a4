package record

import (
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

// cases is what is known of each case during a record. All slices and maps go by the index of
// the case.
type cases struct {
	lanes    []int          // of the last run
	took     pass.Durations // by that run, before the first one by the golden that is replaced
	due      pass.Durations // expected durations in the present pass, complete
	had      []runsBefore
	onEngine map[int]*outcome.EngineRun // what an engine said of the first run
	failed   map[int]error              // cases for which the machine failed
	done     map[int]bool               // cases that have all their runs
}

func newCases(took pass.Durations) *cases {
	c := &cases{
		lanes: make([]int, len(took)), took: took, due: took.Complete(), had: make([]runsBefore, len(took)),
		onEngine: map[int]*outcome.EngineRun{}, failed: map[int]error{}, done: map[int]bool{},
	}
	for i := range c.lanes {
		c.lanes[i] = exec.NoLane
	}
	return c
}

// runsBefore is what the next run of a case needs to know of those before, unless it
// differs: to ask the golden for it would wait for all that is being written.
type runsBefore struct {
	runs   int            // that are in the new golden
	needed int            // runs in all
	digest outcome.Digest // of the outcome there; zero where the golden must be asked
	cost   outcome.Cost   // of the first run
}

func runsIn(r *golden.Record) runsBefore {
	h := runsBefore{runs: r.Runs, cost: r.Cost}
	if !r.Outcome.Ending.Partial() {
		h.digest = r.Outcome.Digest()
	}
	return h
}

// readRuns reads from the golden how many runs each case has, and returns the cases that have none.
func (c *cases) readRuns(j *job.Job, compare content.Comparer, w *golden.Writer, all []pass.Task) ([]pass.Task, error) {
	var rest []pass.Task
	for _, t := range all {
		rec, known, err := w.Get(t.Entry.Name)
		if err != nil {
			return nil, err
		}
		if !known {
			rest = append(rest, t)
			continue
		}
		had := &c.had[t.Index]
		had.runs = rec.Runs
		if had.needed, err = runsNeeded(j, compare, w, &rec); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// kept counts the cases whose runs --resume keeps.
func (c *cases) kept() (n int) {
	for _, h := range c.had {
		if h.runs > 0 {
			n++
		}
	}
	return n
}

// isKnown reports whether a case has run, or the machine failed for it.
func (c *cases) isKnown(index int) bool {
	return c.done[index] || c.had[index].runs > 0 || c.failed[index] != nil
}
