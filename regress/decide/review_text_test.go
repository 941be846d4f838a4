package decide

import (
	"context"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/review"
)

// What a review accepted before the golden grew old is told, and in the browser there may
// be many commits.
func TestTellReviewed(t *testing.T) {
	refused := review.Result{Decided: 1, Refused: "the golden has changed"}
	for _, c := range []struct {
		results    []review.Result
		said, fail string
	}{
		{nil, "nothing written\n", ""},
		{[]review.Result{{Decided: 2, Accepted: 40}, {Decided: 1, Accepted: 1}}, "3 decisions on run R written, accepted 41 cases\n", ""},
		{[]review.Result{refused}, "", "the decisions are written, and no case is accepted: the golden has changed"},
		{[]review.Result{{Decided: 2, Accepted: 40}, refused}, "3 decisions on run R written, accepted 40 cases\n", "the decisions are written, and later no further case was accepted: the golden has changed"},
	} {
		var out strings.Builder
		h := host.Host{Stdout: &out, Stderr: &out}
		err := printReviewed(h, &review.Desk{Run: "R", Command: "check"}, c.results, nil)
		fail := ""
		if err != nil {
			fail = err.Error()
		}
		if out.String() != c.said || fail != c.fail || err != nil && regress.ClassOf(err) != regress.Input {
			t.Errorf("%+v: %q, %v", c.results, out.String(), err)
		}
	}

	// Who interrupts has interrupted, whatever was refused before.
	var out strings.Builder
	h := host.Host{Stdout: &out, Stderr: &out}
	err := printReviewed(h, &review.Desk{Run: "R", Command: "check"}, []review.Result{refused}, context.Canceled)
	if err != nil || out.String() != "warning: the decisions are written, and no case is accepted: the golden has changed\n" {
		t.Errorf("interrupted: %q, %v", out.String(), err)
	}
}
