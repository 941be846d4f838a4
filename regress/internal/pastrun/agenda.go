package pastrun

import (
	"context"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
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
			ID: c.ID, Name: c.Name, Kind: string(c.Kind), Family: c.Family, Folded: c.Bucketed(), Joined: c.Joined,
			Cases: c.Cases, Lines: c.Lines, Sole: c.Sole, Example: name.Print(c.Example), Smallest: name.Print(c.Smallest),
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

// explainAbsence returns an error that says why the run has no difference in a case: the case was
// identical, did not run, or does not exist.
func (r *Run) explainAbsence(ctx context.Context, caseName string) error {
	var known []string
	for l, err := range r.State.ReadLines() {
		if err != nil {
			return err
		}
		if string(l.Name) == caseName {
			return fault.Inputf("%s was identical in run %s: muster groups lists what differs", name.Print(caseName), r.ID)
		}
		known = append(known, string(l.Name))
	}
	for i := range r.Results {
		known = append(known, string(r.Results[i].Name)) // missing cases have no line
	}
	inGolden := r.goldenNames(ctx)
	if slices.Contains(inGolden, caseName) {
		return fault.Inputf("%s is in the golden, and did not run in run %s: muster check --cases %s runs it", name.Print(caseName), r.ID, name.Quote(name.Print(caseName)))
	}
	known = append(known, inGolden...)
	slices.Sort(known)
	return fault.Inputf("run %s has no case %s%s: muster cases lists the cases", r.ID, name.Print(caseName), name.Near(caseName, slices.Compact(known)))
}

// goldenNames returns the names of the golden's cases, none for a compare. It only helps a
// message, so it returns none if the golden cannot be opened.
func (r *Run) goldenNames(ctx context.Context) []string {
	if r.Command != regress.CheckCommand {
		return nil
	}
	base, err := r.OpenBase(ctx)
	if err != nil {
		return nil
	}
	defer base.Close()
	return slices.Collect(base.Names())
}

// Marks say which results are accepted, by their index in Run.Results.
type Marks []bool

// Marks returns the marks of the results.
func (r *Run) Marks() Marks {
	marks := make(Marks, len(r.Results))
	for i := range r.Results {
		marks[i] = r.Results[i].Accepted
	}
	return marks
}

// WithMarks returns the run with other marks. It does not write them.
func (r *Run) WithMarks(marks Marks) *Run {
	marked := *r
	marked.Results = slices.Clone(r.Results)
	for i := range marked.Results {
		marked.Results[i].Accepted = marks[i]
	}
	return &marked
}

// AcceptedIn returns a function that reports whether a case is accepted by the results.
func AcceptedIn(results []state.Result) func(caseName string) bool {
	accepted := map[string]bool{}
	for i := range results {
		accepted[string(results[i].Name)] = results[i].Accepted
	}
	return func(caseName string) bool { return accepted[caseName] }
}

// A Target is what a word of a user names: a cause, by its ID, or a case.
type Target struct {
	Cause  *cause.Cause  // nil for a case
	Found  *cause.Found  // has the cause
	Result *state.Result // of the case
}

// FindTarget returns what a word such as G1 names, or a case name. A case whose name looks like
// the ID of a cause is named ./G1.
func (r *Run) FindTarget(ctx context.Context, word string) (t Target, err error) {
	if IsCauseID(word) {
		if t.Found, err = r.Causes(); err != nil {
			return t, err
		}
		for i := range t.Found.Causes {
			if t.Found.Causes[i].ID == word {
				t.Cause = &t.Found.Causes[i]
				return t, nil
			}
		}
		if caseName, err := name.ParseTyped(word); err != nil || r.Result(caseName) == nil {
			return t, fault.Inputf("run %s has no cause %s, it has %d: muster groups lists them", r.ID, word, len(t.Found.Causes))
		}
	}
	caseName, err := name.ParseTyped(word)
	if err != nil {
		return t, err
	}
	if t.Result = r.Result(caseName); t.Result == nil {
		if upper := strings.ToUpper(word); IsCauseID(upper) {
			return t, fault.Inputf("run %s has no case %s: did you mean the cause %s?", r.ID, word, upper)
		}
		if list := strings.Split(word, ","); len(list) > 1 && !slices.ContainsFunc(list, func(id string) bool { return !IsCauseID(id) }) {
			return t, fault.Inputf("run %s has no case %s: name causes apart, as in %s", r.ID, word, strings.Join(list, " "))
		}
		err = r.explainAbsence(ctx, caseName)
	}
	return t, err
}

// IsCauseID reports whether a word looks like the ID of a cause.
func IsCauseID(word string) bool {
	if len(word) < 2 || word[0] != 'G' {
		return false
	}
	for _, c := range word[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
