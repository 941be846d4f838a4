package report

import (
	"fmt"
	"muster/regress"
	"strings"
	"testing"
)

// What fails many cases is told once, with how many there are, whatever the numbers in it. JSON
// has it of each.
func TestReasonsAreToldOnce(t *testing.T) {
	const long = "engine grpc://h:1, executing (%d attempts in %ds): Unavailable: connection refused"
	var events []Event
	var cases []Case
	add := func(caseName, why string) {
		c := Case{Name: caseName, Index: len(cases), Verdict: regress.EnvironmentFailed, Why: why}
		cases, events = append(cases, c), append(events, c)
	}
	events = append(events, Started{Command: "check", At: epoch})
	for i := range 12 {
		add(fmt.Sprintf("case%02d.c", i), fmt.Sprintf(long, 7+i, 3))
	}
	add("own.c", "own.c: no worker takes it")
	add("other.c", "other.c: no worker takes it")
	add("alone.c", "another reason")
	events = append(events, Finished{summaryOf("check", cases)})

	out, _ := feed(t, events, false, 80, func(c Console) Reporter { return NewText(c, Normal) })
	for want, n := range map[string]int{
		"environment    case00.c  engine grpc://h:1, executing (7 attempts in 3s)": 1, "attempts": 1,
		"environment    case11.c  as case00.c\n": 1, "  as case00.c\n": 11, "no worker": 1, "another reason": 1,
		"environment    other.c  as own.c\n": 1, "  environment: 12 as case00.c, 2 as own.c\n": 1,
	} {
		if got := strings.Count(out, want); got != n {
			t.Errorf("%d times %q, not %d, in\n%s", got, want, n, out)
		}
	}
	lines, _ := feed(t, events, false, 80, func(c Console) Reporter { return NewJSON(c, Normal) })
	if n := strings.Count(lines, `"causes":[],"why":"engine grpc://h:1, executing (`); n != 12 || !strings.Contains(lines, `"why":"another reason"`) {
		t.Errorf("%d of 12 in\n%s", n, lines)
	}
	if out, _ := feed(t, []Event{cases[0], Finished{summaryOf("check", cases[:1])}}, false, 80, func(c Console) Reporter { return NewJSON(c, Normal) }); strings.Contains(out, `"why":""`) {
		t.Error(out)
	}
}

// Neither memory nor the summary grows with reasons that are all different.
func TestReasonsAreBounded(t *testing.T) {
	var r reasons
	for i := range 3 * reasonsMax {
		words := strings.Repeat("x", i+1)
		for _, caseName := range []string{fmt.Sprint("a", i), fmt.Sprint("b", i)} {
			r.once(Case{Name: caseName, Verdict: regress.EnvironmentFailed, Why: words})
		}
	}
	if got := r.counts(); len(r.order) != reasonsMax || got != "2 as a0, 2 as a1, 2 as a2, 97 more reasons" {
		t.Errorf("%d: %s", len(r.order), got)
	}
}
