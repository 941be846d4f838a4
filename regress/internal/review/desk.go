package review

import "context"

// A Desk is a review and what its views need of the world.
type Desk struct {
	*Review
	Run     string   // ID of the run
	Command string   // check or compare; a compare has no golden, and only decisions are written
	Golden  string   // where accepted cases go; empty for a compare
	Notes   []string // what a reviewer should know from the beginning; Look may have more

	// Difference loads what differs in a case. Several goroutines may call it.
	Difference func(ctx context.Context, name string) (Difference, error)
	// Write commits changes, all of them or nothing but decisions, see Result. It is
	// safe with other reviewers at work, in this process or another.
	Write func(ctx context.Context, c Changes) (Result, error)
	// Look reads how things stand by now. Several goroutines may call it.
	Look func(ctx context.Context) (Now, error)
}

// Now is how things stand at one time.
type Now struct {
	Decisions map[string]State // that are written
	Promoted  func(name string) bool
	Notes     []string // what has grown old: a newer run, a golden that others have changed
	Shut      string   // why no case can go into the golden; empty when cases can
}

// CatchUp takes note of how things stand by now, as Rebase does.
func (d *Desk) CatchUp(now Now) (fresh []Conflict) {
	d.shut = now.Shut
	return d.Rebase(now.Decisions, now.Promoted)
}

// Result is what came of a commit.
type Result struct {
	Conflicts []Conflict       // with any, nothing was written
	Decisions map[string]State // all that are written now, those of others too
	Promoted  func(name string) bool
	Decided   int      // decisions that were written
	Accepted  int      // cases that went into the golden
	Refused   string   // why no case went into the golden although some were ready; the decisions are written
	Notes     []string // warnings
}

// Commit writes what is pending and takes note of what came of it. With an error or a
// conflict everything stays pending.
func (d *Desk) Commit(ctx context.Context) (Result, error) {
	result, err := d.Write(ctx, d.Changes())
	if err == nil {
		d.Settle(result)
	}
	return result, err
}

// Settle takes note of what came of writing Changes.
func (d *Desk) Settle(result Result) {
	if len(result.Conflicts) > 0 {
		d.Rebase(result.Decisions, result.Promoted)
		return
	}
	d.committed(result.Decisions, result.Promoted)
}
