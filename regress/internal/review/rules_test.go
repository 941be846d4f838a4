package review

import (
	"maps"
	"slices"
	"strings"
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

// Causes that people joined are one family, those that they took out are in none, and others keep theirs.
// Both wait for the commit, can be undone, and name causes by their signatures.
func TestJoinAndSplit(t *testing.T) {
	items := []Item{
		{ID: "G1", Signature: "s1", Name: "a", Kind: "edit"}, {ID: "G2", Signature: "s2", Name: "b", Kind: "edit", Family: "casts"},
		{ID: "G3", Signature: "s3", Name: "a", Kind: "edit", Family: "casts"}, {ID: "G4", Signature: "s4", Name: "d", Kind: "edit"},
		{ID: "G5", Signature: "s5", Name: "e", Kind: "other", Folded: 4}, {ID: NewID},
	}
	d := &Desk{Review: New(items, nil, nil)}
	families := func(want ...string) {
		t.Helper()
		for i, family := range want {
			if got, _, _ := strings.Cut(d.Family(i), " #"); got != family {
				t.Errorf("%s is in %q, want %q", items[i].ID, got, family)
			}
		}
	}
	for _, none := range [][]int{{0}, {1}, {0, 0}, {0, 4}, {0, 5}, {4, 5}, nil} {
		if n := d.Join(none); n != 0 || !d.Changes().Empty() {
			t.Errorf("joined %d of %v", n, none)
		}
	}
	if n := d.Join([]int{3, 0, 4, 5}); n != 2 {
		t.Errorf("joined %d", n)
	}
	families("joined: a", "casts", "casts", "joined: a", "", "")
	if got := d.Visible(); !slices.Equal(got, []int{0, 1, 4, 5}) {
		t.Errorf("the rows are %v", got)
	}
	if n := d.Join([]int{1, 0}); n != 4 { // whole families
		t.Errorf("joined %d", n)
	}
	families("joined: a", "joined: a", "joined: a", "joined: a")
	d.Undo()
	families("joined: a", "casts", "casts", "joined: a")
	d.MoveTo(1)
	if n := d.Split(); n != 2 {
		t.Errorf("split %d", n)
	}
	d.Join([]int{1, 2}) // named after b
	d.Undo()
	if d.MoveTo(2); d.Split() != 0 {
		t.Error("an item without a family is split")
	}
	joined := d.Family(0)
	if got, want := d.Changes().Families, map[string]string{"G1": joined, "G2": "", "G3": "", "G4": joined}; !maps.Equal(got, want) {
		t.Errorf("would write %v, want %v", got, want)
	}
	if got := d.Changes().Items(); !slices.Equal(got, []string{"G1", "G2", "G3", "G4"}) {
		t.Errorf("changes %v", got)
	}
	written := MergeFamilies(items, d.Changes(), map[string]string{"s1": "casts", "other": "x"})
	if want := map[string]string{"s1": joined, "s2": "", "s3": "", "s4": joined, "other": "x"}; !maps.Equal(written, want) {
		t.Errorf("wrote %v, want %v", written, want)
	}
	d.Settle(Result{Now: Now{Families: written, Promoted: among()}})
	families("joined: a", "", "", "joined: a")
	if !d.Changes().Empty() || d.Undoable() != 0 {
		t.Errorf("after the commit %v is left", d.Changes())
	}
	before := d.Regrouped()
	d.Update(Now{Families: written, Promoted: among()})
	if d.Regrouped() != before {
		t.Error("the same families are new")
	}
	d.Update(Now{Families: map[string]string{"s3": "joined: a", "": "joined: a", "s5": "joined: a"}, Promoted: among()}) // somebody else's
	families("", "casts", "joined: a", "", "", "")                                                                       // neither buckets nor what is no cause
	d.Join([]int{0, 1})
	if d.Family(0) == joined || d.Family(0) != d.Family(1) {
		t.Errorf("another family of the same first cause is %q", d.Family(0))
	}
}
