package pastrun

import (
	"slices"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// An Agenda lists what is to be decided on a run.
type Agenda struct {
	Found *cause.Found
	Items []review.Item // the causes, at their indexes in Found, then groups of cases without a cause
	Cases []review.Case
}

// NewAgenda lists the items and cases of results. It leaves out cases that were not judged. found
// is nil for a run of an earlier muster, which kept no causes.
func NewAgenda(results []state.Result, found *cause.Found) *Agenda {
	if found == nil {
		found = &cause.Found{}
	}
	a := &Agenda{Found: found}
	for _, c := range found.Causes {
		a.Items = append(a.Items, review.Item{
			ID: c.ID, Signature: c.Signature, Name: c.Name, Kind: string(c.Kind), Family: c.Family, Cases: c.Cases, Lines: c.Lines,
			Sole: c.Sole, Example: name.Print(c.Example), Smallest: name.Print(c.Smallest),
		})
	}
	others := map[string]int{}
	for i := range results {
		r := &results[i]
		if r.Verdict == regress.EnvironmentFailed {
			continue
		}
		items := a.causesOf(string(r.Name))
		if items == nil {
			items = []int{a.addOther(others, r)}
		}
		for _, item := range items {
			a.Items[item].Members = append(a.Items[item].Members, len(a.Cases))
		}
		a.Cases = append(a.Cases, review.Case{Name: string(r.Name), Printed: name.Print(string(r.Name)), Verdict: r.Verdict.String(), Items: items})
	}
	for i := range a.Items {
		a.sortMembers(&a.Items[i])
	}
	return a
}

// Review returns a review of the agenda that has only the decisions written so far, by ID, and the
// accepted cases.
func (a *Agenda) Review(written map[string]review.State, isAccepted func(caseName string) bool) *review.Review {
	r := review.New(a.Items, a.Cases, written)
	r.Rebase(written, isAccepted)
	return r
}

// causesOf returns the indexes of the causes of a case.
func (a *Agenda) causesOf(caseName string) []int {
	m, known := a.Found.Member(caseName)
	if !known {
		return nil
	}
	return m.Causes
}

// sortMembers sorts the cases of an item: its example first, then its smallest case.
func (a *Agenda) sortMembers(it *review.Item) {
	rank := func(c int) int {
		switch a.Cases[c].Printed {
		case it.Example:
			return 0
		case it.Smallest:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(it.Members, func(a, b int) int { return rank(a) - rank(b) })
}

// addOther counts a case without a cause in the item of its kind, and returns the item's index.
// known has the indexes of such items, by ID.
func (a *Agenda) addOther(known map[string]int, r *state.Result) int {
	it := review.Item{ID: review.ChangedID, Name: "differs: the run kept no causes"}
	switch {
	case r.Stopped && (r.Verdict == regress.New || r.Verdict == regress.Flaky):
		it = review.Item{ID: review.StoppedID, Name: "new or flaky, and ended by a signal or a limit"}
	case r.Verdict == regress.New:
		it = review.Item{ID: review.NewID, Name: "new: the golden does not have them"}
	case r.Verdict == regress.Missing:
		it = review.Item{ID: review.MissingID, Name: "missing: the corpus no longer has them"}
	case r.Verdict == regress.Flaky:
		it = review.Item{ID: review.FlakyID, Name: "flaky: they differ from run to run"}
	}
	item, made := known[it.ID]
	if !made {
		item = len(a.Items)
		known[it.ID] = item
		it.Example = name.Print(string(r.Name))
		it.Smallest = it.Example
		a.Items = append(a.Items, it)
	}
	a.Items[item].Cases++
	a.Items[item].Sole++
	return item
}
