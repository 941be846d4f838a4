package regress

import (
	"context"
	"slices"

	"muster/regress/internal/cause"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// reviewed is a past run that is under review, by one reviewer or by several.
type reviewed struct {
	past    *past
	found   *cause.Found
	rules   normalize.Rules
	texts   *texted
	items   []review.Item
	cases   []review.Case
	itemsOf map[string][]int // by the name of the case
}

func openReviewed(ctx context.Context, o Options, id string) (w *reviewed, err error) {
	p, err := openPast(&o, id)
	if err != nil {
		return nil, err
	}
	w = &reviewed{past: p}
	if w.found, err = p.causes(); err != nil {
		return nil, err
	}
	if w.rules, err = normalize.Parse(p.options.Judge.Normalize); err != nil {
		return nil, err
	}
	w.itemize()
	if len(w.items) == 0 {
		return w, nil
	}
	w.texts, err = openTexted(ctx, p)
	return w, err
}

// close gives up the stores.
func (w *reviewed) close() error {
	if w.texts == nil {
		return nil
	}
	return w.texts.close()
}

// itemize makes the items and cases: the causes first, so that their indexes are those
// of items, then what has none. Cases that were not judged are not to be decided on.
func (w *reviewed) itemize() {
	for _, c := range w.found.Causes {
		w.items = append(w.items, review.Item{
			ID: c.ID, Signature: c.Signature, Name: c.Name, Kind: string(c.Kind), Family: c.Family, Cases: c.Cases, Lines: c.Lines,
			Sole: c.Sole, Example: name.Print(c.Example), Smallest: name.Print(c.Smallest),
		})
	}
	w.itemsOf = map[string][]int{}
	others := map[string]int{}
	for i := range w.past.results {
		r := &w.past.results[i]
		if r.Verdict == outcome.Environment {
			continue
		}
		items := w.causesOf(string(r.Name))
		if items == nil {
			items = []int{w.other(others, r)}
		}
		w.itemsOf[string(r.Name)] = items
		for _, item := range items {
			w.items[item].Members = append(w.items[item].Members, len(w.cases))
		}
		w.cases = append(w.cases, review.Case{Name: string(r.Name), Printed: name.Print(string(r.Name)), Verdict: r.Verdict.String(), Items: items})
	}
	for i := range w.items {
		w.exampleFirst(&w.items[i])
	}
}

func (w *reviewed) causesOf(caseName string) []int {
	m, known := w.found.Member(caseName)
	if !known {
		return nil
	}
	return m.Causes
}

// exampleFirst brings the cases of an item into the order in which people look at them.
func (w *reviewed) exampleFirst(it *review.Item) {
	rank := func(c int) int {
		switch w.cases[c].Printed {
		case it.Example:
			return 0
		case it.Smallest:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(it.Members, func(a, b int) int { return rank(a) - rank(b) })
}

// other returns the item of a case that has no cause.
func (w *reviewed) other(known map[string]int, r *state.Result) int {
	it := review.Item{ID: review.ChangedID, Name: "differs: the run kept no causes"}
	switch {
	case r.Stopped && (r.Verdict == outcome.New || r.Verdict == outcome.Flaky):
		it = review.Item{ID: review.StoppedID, Name: "new or flaky, and ended by a signal or a limit"}
	case r.Verdict == outcome.New:
		it = review.Item{ID: review.NewID, Name: "new: the golden does not have them"}
	case r.Verdict == outcome.Missing:
		it = review.Item{ID: review.MissingID, Name: "missing: the corpus no longer has them"}
	case r.Verdict == outcome.Flaky:
		it = review.Item{ID: review.FlakyID, Name: "flaky: they differ from run to run"}
	}
	item, made := known[it.ID]
	if !made {
		item = len(w.items)
		known[it.ID] = item
		it.Example = name.Print(string(r.Name))
		it.Smallest = it.Example
		w.items = append(w.items, it)
	}
	w.items[item].Cases++
	w.items[item].Sole++
	return item
}

// desk makes a review of the run, with the decisions that are written by now.
func (w *reviewed) desk(ctx context.Context) (*review.Desk, error) {
	now, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	d := &review.Desk{
		Review: review.New(w.items, w.cases, now.Decisions), Run: w.past.run.ID, Command: w.past.run.Command,
		Notes: now.Notes, Difference: w.difference, Write: w.write, Look: w.look,
	}
	if w.past.run.Command == report.CheckCommand {
		d.Golden = w.past.options.Store.Golden
	}
	d.CatchUp(now)
	return d, nil
}

// look implements review.Desk.Look.
func (w *reviewed) look(ctx context.Context) (now review.Now, err error) {
	p, decided, err := w.reread()
	if err != nil {
		return now, err
	}
	if err := w.aged(ctx, p, &now); err != nil {
		return now, err
	}
	now.Promoted = promotedIn(p.results)
	now.Decisions = w.withPromoted(statesOf(decided), now.Promoted)
	if n := w.notJudged(); n > 0 {
		now.Notes = append(now.Notes, counted(n)+" not judged, for the machine failed: muster rerun --failed")
	}
	return now, nil
}

// aged says what has grown old since the run, and recalls what is no longer in the golden.
func (w *reviewed) aged(ctx context.Context, p *past, now *review.Now) error {
	newest, err := state.Open(p.options.Store.State).Find("", func(r *state.Run) bool { return r.Command == p.run.Command && r.Finished })
	if err == nil && newest.ID != p.run.ID {
		now.Notes = append(now.Notes, "there is a newer "+p.run.Command+", run "+newest.ID)
	}
	if p.run.Command != report.CheckCommand {
		now.Shut = "a compare has none"
		now.Notes = append(now.Notes, "run "+p.run.ID+" was a compare: it has no golden, so decisions are all that is written")
		return nil
	}
	w.texts.heed(p)
	return w.texts.use(ctx, func(base, _ *golden.Store) error {
		if err := p.acceptsInto(base.Digest(), base.Meta()); err != nil {
			now.Shut = "it has changed, so run muster check again"
			now.Notes = append(now.Notes, "the golden has changed since: run muster check again to accept into it")
			return nil
		}
		return w.texts.recall(p, base)
	})
}

func (w *reviewed) notJudged() (n int) {
	for _, r := range w.past.results {
		if r.Verdict == outcome.Environment {
			n++
		}
	}
	return n
}

// reread reads what others may have written since.
func (w *reviewed) reread() (*past, map[string]state.Decision, error) {
	p := *w.past
	var err error
	if p.run, err = state.Open(p.options.Store.State).Find(p.run.ID, isChecking); err != nil {
		return nil, nil, err
	}
	if p.results, err = p.run.Results(); err != nil {
		return nil, nil, err
	}
	decided, err := p.run.Decisions()
	return &p, decided, err
}

func statesOf(decided map[string]state.Decision) map[string]review.State {
	states := map[string]review.State{}
	for id, d := range decided {
		states[id] = review.State(d)
	}
	return states
}

// withPromoted adds that an item is accepted of which every case is in the golden: accept
// takes cases too.
func (w *reviewed) withPromoted(states map[string]review.State, promoted func(string) bool) map[string]review.State {
	for _, it := range w.items {
		isOut := func(c int) bool { return !promoted(w.cases[c].Name) }
		if _, decided := states[it.ID]; !decided && !slices.ContainsFunc(it.Members, isOut) {
			states[it.ID] = review.Accepted
		}
	}
	return states
}

func promotedIn(results []state.Result) func(string) bool {
	in := map[string]bool{}
	for _, r := range results {
		in[string(r.Name)] = r.Accepted
	}
	return func(caseName string) bool { return in[caseName] }
}
