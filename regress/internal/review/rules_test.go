package review

import (
	"maps"
	"slices"
	"testing"
)

// fourCases has three causes and four cases: G1 alone shows a and b, G1 and G2 show c, G3 alone shows d.
func fourCases(written map[string]State) *Review {
	items := []Item{{ID: "G1", Members: []int{0, 1, 2}}, {ID: "G2", Members: []int{2}}, {ID: "G3", Members: []int{3}}}
	return New(items, []Case{{Name: "a", Items: []int{0}}, {Name: "b", Items: []int{0}}, {Name: "c", Items: []int{0, 1}}, {Name: "d", Items: []int{2}}}, written)
}

func among(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// A case goes into the golden once all its items are accepted, and waits where some are.
func TestReady(t *testing.T) {
	r := fourCases(map[string]State{"G1": Accepted, "G2": Rejected})
	r.Rebase(r.base, among("a"))
	for c, want := range [][2]bool{{true, false}, {true, true}, {false, false}, {false, false}} {
		if got := [2]bool{r.Ready(c), r.Promotable(c)}; got != want {
			t.Errorf("%s is ready and promotable: %v, want %v", r.cases[c].Name, got, want)
		}
	}
	if w := r.Waiting(); len(w) != 1 || w[0].Case != 2 || !slices.Equal(w[0].For, []int{1}) {
		t.Errorf("%v wait", w)
	}
	if r.Decide("G2", Accepted); !r.Promotable(2) || len(r.Waiting()) > 0 {
		t.Errorf("%v wait with all their causes accepted", r.Waiting())
	}
}

func TestDecisionsAreKept(t *testing.T) {
	want := map[string]State{"G1": Accepted, NewID: Rejected}
	text, err := EncodeDecisions(want)
	if err != nil || string(text) != "{\n \"G1\": \"accepted\",\n \"new\": \"rejected\"\n}" {
		t.Errorf("%s, %v", text, err)
	}
	if got, err := DecodeDecisions(text); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, none := range []string{"null", "{}"} {
		if got, err := DecodeDecisions([]byte(none)); err != nil || got == nil || len(got) > 0 {
			t.Errorf("%s: %v, %v", none, got, err)
		}
	}
	for _, bad := range []string{"", "[]", "{", `{"G1": "skipped"}`, `{"G1": ""}`, `{"G1": 1}`} {
		if got, err := DecodeDecisions([]byte(bad)); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

// Who accepts the rest has not looked at each item, so buckets stay open. A rejection takes them.
func TestRestAcceptsNoBucket(t *testing.T) {
	for _, c := range []struct {
		decision State
		want     []State
	}{
		{Accepted, []State{Accepted, Undecided, Accepted}},
		{Rejected, []State{Rejected, Rejected, Rejected}},
	} {
		r := New([]Item{{ID: "G1"}, {ID: "G2", Folded: 4}, {ID: "G3"}}, nil, nil)
		r.DecideRest(c.decision)
		for i, want := range c.want {
			if got := r.State(i); got != want {
				t.Errorf("%s: item %d is %s, want %s", c.decision, i, got, want)
			}
		}
	}
}

// A family is one row until it is opened, and a decision on that row is one on all of it. A bucket stays a
// row of its own, and so does what the filter hides.
func TestFamiliesFold(t *testing.T) {
	r := New([]Item{
		{ID: "G1", Family: "casts"}, {ID: "G2"}, {ID: "G3", Family: "casts"}, {ID: "G4", Family: "loops"},
		{ID: "G5", Family: "casts"}, {ID: "G6", Family: "casts", Folded: 3},
	}, nil, nil)
	visible := func(want ...int) {
		t.Helper()
		if got := r.Visible(); !slices.Equal(got, want) {
			t.Errorf("filter %q shows %v, want %v", r.Filtered(), got, want)
		}
	}
	states := func(want ...State) {
		t.Helper()
		for i, s := range want {
			if got := r.State(i); got != s {
				t.Errorf("item %d is %q, want %q", i, got, s)
			}
		}
	}
	visible(0, 1, 3, 5)
	if got := r.Under(0); !slices.Equal(got, []int{0, 2, 4}) {
		t.Errorf("the first row stands for %v", got)
	}
	if n := r.DecideHere(Accepted); n != 3 {
		t.Errorf("decided on %d", n)
	}
	states(Accepted, Undecided, Accepted, Undecided, Accepted, Undecided)
	if item, _, _ := r.Cursor(); item != 1 {
		t.Errorf("the cursor went to %d", item)
	}
	r.Decide("G3", Rejected)
	if s := r.Standing(0); s != Undecided {
		t.Errorf("a row of unlike decisions is %q", s)
	}
	r.Undo()
	r.Undo()
	states(Undecided, Undecided, Undecided)
	if item, _, _ := r.Cursor(); item != 0 {
		t.Errorf("the cursor came back to %d", item)
	}
	r.Filter("G3")
	visible(2)
	if r.Fold() {
		t.Error("a family of one row folds")
	}
	r.Filter("")
	visible(0, 1, 3, 5) // it is still folded
	if item, _, _ := r.Cursor(); item != 0 {
		t.Errorf("the filter's end moved the cursor to %d", item)
	}
	r.Fold()
	visible(0, 2, 4, 1, 3, 5)
	r.MoveTo(1)
	r.DecideHere(Rejected)
	states(Undecided, Undecided, Rejected, Undecided, Undecided)
	r.MoveTo(0)
	r.Fold()
	visible(0, 1, 3, 5)
	r.DecideRest(Accepted)
	states(Accepted, Accepted, Rejected, Accepted, Accepted, Undecided)
	if !r.FoldAll() {
		t.Error("no family opens")
	}
	visible(0, 2, 4, 1, 3, 5)
	r.FoldAll()
	visible(0, 1, 3, 5)
	r.Show("", []string{"casts"})
	visible(0, 2, 4, 1, 3, 5)
	r.MoveTo(5)
	if r.Fold() {
		t.Error("a bucket folds")
	}
}
