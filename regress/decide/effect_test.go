package decide

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/glob"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// Both causes are in case "both". Case "done" is in the golden already.
func TestAcceptSelection(t *testing.T) {
	run := &pastrun.Run{}
	for _, caseName := range []string{"both", "done", "one", "other"} {
		run.Results = append(run.Results, state.Result{Name: []byte(caseName), Verdict: regress.Changed, Accepted: caseName == "done"})
	}
	found := &cause.Found{
		Causes: []cause.Cause{{ID: "G1", Cases: 3}, {ID: "G2", Cases: 2}},
		Members: []cause.Member{
			{Name: "both", Causes: []int{0, 1}}, {Name: "done", Causes: []int{0}},
			{Name: "one", Causes: []int{0}}, {Name: "other", Causes: []int{1}},
		},
	}
	one, err := glob.Compile("o*")
	if err != nil {
		t.Fatal(err)
	}
	set := func(words string) map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(words) {
			m[w] = true
		}
		return m
	}
	for _, c := range []struct {
		what               string
		selection          selection
		promoted, accepted string // cases, IDs of causes
		waits              int    // for G2
	}{
		{"a cause", selection{causes: set("G1"), cases: set("")}, "one", "G1", 1},
		{"both causes", selection{causes: set("G1 G2"), cases: set("")}, "both one other", "G1 G2", 0},
		{"some cases of a cause", selection{causes: set("G1"), cases: set(""), only: one}, "one", "", 0},
		{"a case", selection{causes: set(""), cases: set("both")}, "both", "", 0},
		{"all cases", selection{causes: set(""), cases: set("both done one other")}, "both one other", "G1 G2", 0},
	} {
		before := map[string]review.State{}
		e := acceptSelection(run, found, before, &c.selection)
		var promoted, accepted []string
		for _, r := range e.promotions(run) {
			promoted = append(promoted, string(r.Name))
		}
		for _, id := range slices.Sorted(maps.Keys(e.decisions)) {
			if e.decisions[id] == review.Accepted {
				accepted = append(accepted, id)
			}
		}
		if got := strings.Join(promoted, " "); got != c.promoted {
			t.Errorf("%s: promotes %q, want %q", c.what, got, c.promoted)
		}
		if got := strings.Join(accepted, " "); got != c.accepted {
			t.Errorf("%s: accepts %q, want %q", c.what, got, c.accepted)
		}
		if e.waits != c.waits || e.waiting["G2"] != c.waits {
			t.Errorf("%s: %d cases wait, %v, want %d", c.what, e.waits, e.waiting, c.waits)
		}
		if len(before) > 0 {
			t.Errorf("%s: changed the decisions until now: %v", c.what, before)
		}
	}
}
