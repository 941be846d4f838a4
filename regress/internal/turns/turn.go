package turns

import (
	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

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
