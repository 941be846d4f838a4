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

// Whoever takes all cases of an item has taken it, and of no other.
func TestTake(t *testing.T) {
	for _, c := range []struct {
		written  map[string]State
		promoted []string // before
		take     []string
		want     map[string]State
	}{
		{nil, nil, []string{"a", "b"}, map[string]State{}},
		{nil, nil, []string{"a", "b", "c"}, map[string]State{"G1": Accepted, "G2": Accepted}},
		{nil, []string{"a", "b"}, []string{"c"}, map[string]State{"G1": Accepted, "G2": Accepted}},
		{nil, nil, []string{"c"}, map[string]State{"G2": Accepted}},
		{map[string]State{"G3": Rejected, "G1": Rejected}, nil, []string{"d", "a"}, map[string]State{"G3": Accepted, "G1": Rejected}},
		{map[string]State{"G3": Rejected}, []string{"d"}, nil, map[string]State{"G3": Rejected}},
	} {
		r := fourCases(c.written)
		r.Rebase(r.base, among(c.promoted...))
		r.Take(among(c.take...))
		if got, conflicts := Merge(r.Changes(), c.written); !maps.Equal(got, c.want) || len(conflicts) > 0 || len(r.Changes().Promote) > 0 {
			t.Errorf("%v taken with %v written and %v promoted: %v, want %v", c.take, c.written, c.promoted, got, c.want)
		}
	}
}

// What is in the golden was accepted, unless somebody decided otherwise.
func TestWithPromoted(t *testing.T) {
	r := fourCases(nil)
	written := map[string]State{"G1": Rejected, "GONE": Accepted}
	got := WithPromoted(r.items, r.cases, written, among("a", "b", "c"))
	if want := (map[string]State{"G1": Rejected, "G2": Accepted, "GONE": Accepted}); !maps.Equal(got, want) || len(written) != 2 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := WithPromoted([]Item{{ID: "G1"}}, nil, nil, among()); len(got) > 0 {
		t.Errorf("an item without cases: %v", got)
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
	if got, err := DecodeDecisions(nil); err != nil || got == nil || len(got) > 0 {
		t.Errorf("no file: %v, %v", got, err)
	}
	for _, bad := range []string{"", "[]", "{", `{"G1": "skipped"}`, `{"G1": ""}`, `{"G1": 1}`} {
		if got, err := DecodeDecisions([]byte(bad)); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}
