package regress

import (
	"slices"

	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// decidable is what there is to decide on in a past run, for all who decide.
type decidable struct {
	found *cause.Found
	items []review.Item
	cases []review.Case
}

// review returns a review of it in which nothing is decided but what is written, by ID, and
// what the golden has.
func (d *decidable) review(written map[string]review.State, promoted func(caseName string) bool) *review.Review {
	r := review.New(d.items, d.cases, written)
	r.Rebase(written, promoted)
	return r
}

// decidable lists the items and cases: the causes first, so that their indexes are those
// of items, then what has none. Cases that were not judged are not to be decided on. There
// are no causes of a run of an earlier muster: found is nil then.
func (p *past) decidable(found *cause.Found) *decidable {
	if found == nil {
		found = &cause.Found{}
	}
	d := &decidable{found: found}
	for _, c := range found.Causes {
		d.items = append(d.items, review.Item{
			ID: c.ID, Signature: c.Signature, Name: c.Name, Kind: string(c.Kind), Family: c.Family, Cases: c.Cases, Lines: c.Lines,
			Sole: c.Sole, Example: name.Print(c.Example), Smallest: name.Print(c.Smallest),
		})
	}
	others := map[string]int{}
	for i := range p.results {
		r := &p.results[i]
		if r.Verdict == outcome.Environment {
			continue
		}
		items := d.causesOf(string(r.Name))
		if items == nil {
			items = []int{d.other(others, r)}
		}
		for _, item := range items {
			d.items[item].Members = append(d.items[item].Members, len(d.cases))
		}
		d.cases = append(d.cases, review.Case{Name: string(r.Name), Printed: name.Print(string(r.Name)), Verdict: r.Verdict.String(), Items: items})
	}
	for i := range d.items {
		d.exampleFirst(&d.items[i])
	}
	return d
}

func (d *decidable) causesOf(caseName string) []int {
	m, known := d.found.Member(caseName)
	if !known {
		return nil
	}
	return m.Causes
}

// exampleFirst brings the cases of an item into the order in which people look at them.
func (d *decidable) exampleFirst(it *review.Item) {
	rank := func(c int) int {
		switch d.cases[c].Printed {
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
func (d *decidable) other(known map[string]int, r *state.Result) int {
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
		item = len(d.items)
		known[it.ID] = item
		it.Example = name.Print(string(r.Name))
		it.Smallest = it.Example
		d.items = append(d.items, it)
	}
	d.items[item].Cases++
	d.items[item].Sole++
	return item
}
