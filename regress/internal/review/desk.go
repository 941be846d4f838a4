package review

import "context"

// A Desk is a review, with the functions through which its views reach files.
type Desk struct {
	*Review
	Run     string   // ID of the run
	Command string   // check or compare; a compare has no golden, so only decisions are written
	Golden  string   // path of the golden for accepted cases; empty for a compare
	Notes   []string // notes on outdated facts, for the reviewer

	written map[string]State // see Now
	// Difference loads the difference of a case. Several goroutines may call it.
	Difference func(ctx context.Context, name string) (Difference, error)
	// Write commits changes. It writes all of them or only the decisions (see Result). Nothing is
	// written if other decisions are written than those that the changes are based on.
	Write func(ctx context.Context, c Changes) (Result, error)
	// Look reads the present state of the files.
	Look func(ctx context.Context) (Now, error)
}

// Now is the state of a review's files at one time.
type Now struct {
	Written   map[string]State // the decisions in the file, by ID
	Decisions map[string]State // the same, with the acceptance that follows from accepted cases
	Promoted  func(name string) bool
	Notes     []string // notes on outdated facts: a newer run exists, or others have changed the golden
	Shut      string   // why no case can go into the golden; empty if cases can
}

// CatchUp updates the review with the present state of the files. Pending decisions stay pending.
func (d *Desk) CatchUp(ctx context.Context) error {
	now, err := d.Look(ctx)
	if err != nil {
		return err
	}
	d.Update(now)
	return nil
}

// Update is CatchUp with a state that was read already.
func (d *Desk) Update(now Now) {
	d.Notes, d.shut, d.written = now.Notes, now.Shut, now.Written
	d.Rebase(now.Decisions, now.Promoted)
}

// Changes returns what a commit would write now.
func (d *Desk) Changes() Changes {
	c := d.Review.Changes()
	c.Base = d.written
	return c
}

// Result is the result of a commit.
type Result struct {
	Stale    bool     // others have decided since; nothing was written
	Now      Now      // the files after the commit, without Notes and Shut
	Decided  int      // number of decisions written
	Accepted int      // number of cases that went into the golden
	Refused  string   // why no case went into the golden although some were ready; the decisions are written
	Notes    []string // warnings
}

// Commit writes the pending decisions and updates the review. After an error, or if others have decided,
// they all stay pending.
func (d *Desk) Commit(ctx context.Context) (Result, error) {
	result, err := d.Write(ctx, d.Changes())
	if err == nil {
		d.Settle(result)
	}
	return result, err
}

// Settle updates the review with the result of writing Changes.
func (d *Desk) Settle(result Result) {
	if !result.Stale {
		d.committed()
	}
	result.Now.Notes, result.Now.Shut = d.Notes, d.shut
	d.Update(result.Now)
}
