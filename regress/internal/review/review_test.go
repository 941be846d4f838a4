package review

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawReview makes a review of a few items and cases.
func drawReview(t *rapid.T) *Review {
	items := make([]Item, rapid.IntRange(0, 6).Draw(t, "items"))
	var cases []Case
	for i := range items {
		items[i] = Item{ID: fmt.Sprintf("G%d", i+1), Name: rapid.SampledFrom([]string{"ll → LL", "a+b", "old → new"}).Draw(t, "name")}
	}
	if len(items) > 0 {
		for c := range rapid.IntRange(0, 8).Draw(t, "cases") {
			var of []int
			for i := range items {
				if rapid.Bool().Draw(t, "in") {
					of = append(of, i)
				}
			}
			if of == nil {
				of = []int{0}
			}
			for _, i := range of {
				items[i].Members = append(items[i].Members, c)
			}
			name := fmt.Sprintf("dir/%d.c", c)
			cases = append(cases, Case{Name: name, Printed: name, Items: of})
		}
	}
	written := map[string]State{}
	for i := range items {
		if s := rapid.SampledFrom([]State{Undecided, Undecided, Accepted, Rejected}).Draw(t, "written"); s != Undecided {
			written[items[i].ID] = s
		}
	}
	return New(items, cases, written)
}

// act does one thing that a reviewer may do, and reports whether it decided anything.
func act(t *rapid.T, r *Review) bool {
	before := r.Undoable()
	switch rapid.IntRange(0, 9).Draw(t, "act") {
	case 0:
		r.DecideHere(Accepted)
	case 1:
		r.DecideHere(Rejected)
	case 2:
		r.DecideHere(Skipped)
	case 3:
		r.DecideRest(Accepted)
	case 4:
		r.DecideRest(Rejected)
	case 5:
		r.DecideRest(Skipped)
	case 6:
		r.Move(rapid.IntRange(-2, 2).Draw(t, "by"))
	case 7:
		r.MoveCase(rapid.IntRange(-2, 2).Draw(t, "by"))
	case 8:
		r.Filter(rapid.SampledFrom([]string{"", "G1", "ll", "a+b", "[", "nothing", "dir/1", "G[23]"}).Draw(t, "filter"))
	case 9:
		r.Decide(fmt.Sprintf("G%d", rapid.IntRange(1, 7).Draw(t, "id")), Accepted)
	}
	return r.Undoable() > before
}

func states(r *Review) (all []State) {
	for i := range r.Items() {
		all = append(all, r.State(i))
	}
	return all
}

// Undo takes back exactly what was done: the decisions, what a commit would write, and
// where the cursor was.
func TestUndoIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReview(t)
		for range rapid.IntRange(0, 6).Draw(t, "before") {
			act(t, r)
		}
		type view struct {
			states  []State
			changes Changes
			item    int
		}
		look := func() view {
			item, _, _ := r.Cursor()
			return view{states(r), r.Changes(), item}
		}
		var stack []view
		filter := r.Filtered()
		for range rapid.IntRange(0, 8).Draw(t, "more") {
			before := look()
			if act(t, r) {
				stack = append(stack, before)
			}
			r.Filter(filter) // the cursor can be where it was only if that is shown
		}
		for _, want := range slices.Backward(stack) {
			if !r.Undo() {
				t.Fatal("there is nothing to undo")
			}
			if got := look(); !reflect.DeepEqual(got.states, want.states) || !reflect.DeepEqual(got.changes, want.changes) {
				t.Fatalf("undone to %+v, want %+v", got, want)
			}
		}
	})
}

// Whatever is decided, nothing is written before Write: what was written stays what it
// was, and Changes brings it to what is shown.
func TestChangesAreWhatIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReview(t)
		was := maps.Clone(r.base)
		for range rapid.IntRange(0, 10).Draw(t, "acts") {
			act(t, r)
		}
		if !maps.Equal(was, r.base) {
			t.Fatalf("%v is written, it was %v", r.base, was)
		}
		merged := r.Changes().Decide(was)
		for i, it := range r.Items() {
			if merged[it.ID] != written(r.State(i)) {
				t.Fatalf("%s is %q, and would be written as %q", it.ID, r.State(i), merged[it.ID])
			}
		}
		for _, name := range r.Changes().Promote {
			for _, c := range r.Cases() {
				if c.Name == name && slices.ContainsFunc(c.Items, func(i int) bool { return r.State(i) != Accepted }) {
					t.Fatalf("%s would be promoted, and not all its causes are accepted", name)
				}
			}
		}
		before := states(r)
		promoted := r.Changes().Promote
		r.committed()
		r.Rebase(merged, func(name string) bool { return slices.Contains(promoted, name) })
		if !slices.Equal(before, states(r)) || len(r.Changes().Decisions) > 0 {
			t.Fatalf("after the commit %v and %v, before %v", states(r), r.Changes(), before)
		}
	})
}

// A desk takes note of what came of a commit, and keeps everything when it failed.
func TestCommit(t *testing.T) {
	newDesk := func(result Result, err error) *Desk {
		items := []Item{{ID: "G1", Members: []int{0}}, {ID: "G2", Members: []int{0}}}
		r := New(items, []Case{{Name: "a", Printed: "a", Items: []int{0, 1}}}, nil)
		return &Desk{Review: r, Write: func(context.Context, Changes) (Result, error) { return result, err }}
	}
	promoted := func(string) bool { return true }
	d := newDesk(Result{Now: Now{Decisions: map[string]State{"G1": Accepted, "G2": Accepted}, Promoted: promoted}}, nil)
	d.DecideRest(Accepted)
	if c := d.Changes(); len(c.Promote) != 1 {
		t.Errorf("%v is ready", c)
	}
	if _, err := d.Commit(t.Context()); err != nil || !d.Changes().Empty() || d.Undo() {
		t.Errorf("%v, and %v is left after a commit", err, d.Changes())
	}
	d = newDesk(Result{}, context.Canceled)
	d.DecideHere(Accepted)
	if _, err := d.Commit(t.Context()); err == nil || len(d.Changes().Decisions) != 1 || len(d.Waiting()) != 1 || d.Waiting()[0].For[0] != 1 {
		t.Errorf("%v, and %v is left, %v wait", err, d.Changes(), d.Waiting())
	}
	d = newDesk(Result{Stale: true, Now: Now{Decisions: map[string]State{"G1": Rejected}, Promoted: func(string) bool { return false }}}, nil)
	d.DecideHere(Accepted)
	if _, err := d.Commit(t.Context()); err != nil || d.State(0) != Accepted || d.Changes().Before["G1"] != Rejected {
		t.Errorf("%v, and G1 is %q after others decided: %v", err, d.State(0), d.Changes())
	}
}
