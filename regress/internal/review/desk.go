package review

import (
	"context"
	"maps"
)

// A Desk is a review, with the functions through which its views reach files.
type Desk struct {
	*Review
	Run     string   // ID of the run
	Command string   // check or compare; a compare has no golden, so only decisions are written
	Golden  string   // path of the golden for accepted cases; empty for a compare
	Notes   []string // notes for the reviewer at the start; Look may return more

	// Difference loads the difference of a case. Several goroutines may call it.
	Difference func(ctx context.Context, name string) (Difference, error)
	// Write commits changes. It writes all of them or only the decisions (see Result). It is
	// safe while other reviewers commit, in this process or another.
	Write func(ctx context.Context, c Changes) (Result, error)
	// Look reads the present state of the files. Several goroutines may call it.
	Look func(ctx context.Context) (Now, error)
}

// Now is the state of a review's files at one time.
type Now struct {
	Decisions map[string]State  // written decisions, by ID
	Families  map[string]string // written families, by signature
	Promoted  func(name string) bool
	Notes     []string // notes on outdated facts: a newer run exists, or others have changed the golden
	Shut      string   // why no case can go into the golden; empty if cases can
}

// CatchUp updates the review with the present state, as Rebase does.
func (d *Desk) CatchUp(now Now) (fresh []Conflict) {
	d.shut = now.Shut
	if !maps.Equal(d.byHand, now.Families) {
		d.regroup(now.Families)
	}
	return d.Rebase(now.Decisions, now.Promoted)
}

// Result is the result of a commit.
type Result struct {
	Conflicts []Conflict        // if there are any, nothing was written
	Decisions map[string]State  // all written decisions, including those of others
	Families  map[string]string // all written families, by signature
	Promoted  func(name string) bool
	Decided   int      // number of decisions written
	Moved     int      // number of items that were joined or split
	Accepted  int      // number of cases that went into the golden
	Refused   string   // why no case went into the golden although some were ready; the decisions are written
	Notes     []string // warnings
}

// Commit writes the pending decisions and updates the review. After an error or a conflict they
// all stay pending.
func (d *Desk) Commit(ctx context.Context) (Result, error) {
	result, err := d.Write(ctx, d.Changes())
	if err == nil {
		d.Settle(result)
	}
	return result, err
}

// Settle updates the review with the result of writing Changes.
func (d *Desk) Settle(result Result) {
	if len(result.Conflicts) > 0 {
		d.Rebase(result.Decisions, result.Promoted)
		return
	}
	d.committed(result.Decisions, result.Promoted)
	d.regroup(result.Families)
}
