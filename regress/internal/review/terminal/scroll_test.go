package terminal

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"muster/regress/internal/cause"
	"muster/regress/internal/review"
)

// screenOf shows one part on a screen without colours.
func screenOf(t *testing.T, width, height int, p review.Part) *model {
	t.Helper()
	items := []review.Item{{ID: "G1", Name: "name", Kind: "edit", Cases: 1, Members: []int{0}}, {ID: "G2", Kind: "edit", Cases: 1, Members: []int{0}}}
	cases := []review.Case{{Name: "a", Printed: "a", Verdict: "changed", Items: []int{0, 1}}}
	d := &review.Desk{
		Review: review.New(items, cases, nil), Run: "run", Command: "check", Golden: "muster.golden",
		Difference: func(context.Context, string) (review.Difference, error) {
			return review.Difference{Ending: "exit 0 → exit 1", Parts: []review.Part{{Name: "stderr", Words: "1 → 2"}, p}}, nil
		},
	}
	m := newModel(t.Context(), d, false)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(m.load()())
	return m
}

// long is a part whose only line differs at its end.
func long() review.Part {
	text := strings.Repeat("0123456789", 30)
	return review.Part{Name: "stdout", Old: []byte(text + "old\n"), Now: []byte(text + "now\n")}
}

// styles matches the sequences that select styles.
var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

func text(m *model) string { return styles.ReplaceAllString(strings.Join(m.rows(), "\n"), "") }

// row returns the index of the row of the screen that has a text, -1 for none.
func row(m *model, what string) int {
	return slices.IndexFunc(strings.Split(text(m), "\n"), func(r string) bool { return strings.Contains(r, what) })
}

// With the edits of other causes shown, the first edit of this cause may stand far below.
func TestStartsAtFirstChange(t *testing.T) {
	p := review.Part{Name: "stdout"}
	for i := range 60 {
		from := len(p.Old)
		p.Old, p.Now = fmt.Appendf(p.Old, "old %d\n", i), fmt.Appendf(p.Now, "now %d\n", i)
		span := cause.Span{From: from, To: from + 3}
		c := 1
		if i == 50 {
			c = 0
		}
		p.Edits = append(p.Edits, cause.Attributed{LiteralEdit: cause.LiteralEdit{Old: span, Now: span}, Cause: c})
	}
	m := screenOf(t, 80, 24, p)
	press(m, "o")
	first := row(m, "-old 50")
	if first < 0 {
		t.Fatalf("the first change is not in\n%s", text(m))
	}
	if rows := m.rows(); first < len(rows)/4 || first > len(rows)/2 {
		t.Errorf("the first change is in row %d of\n%s", first, text(m))
	}
	press(m, "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K")
	if row(m, "ending: exit 0") < 0 {
		t.Errorf("the top cannot be reached:\n%s", text(m))
	}
	press(m, "v")
	if row(m, "old 50") < 0 {
		t.Errorf("another form does not start at the first change:\n%s", text(m))
	}
}

func TestLongLinesWrap(t *testing.T) {
	for _, mode := range review.Modes() {
		m := screenOf(t, 80, 24, long())
		for m.mode != mode {
			press(m, "v")
		}
		for _, r := range m.rows() {
			checkRow(t, r, 80)
		}
		for _, what := range []string{"old", "now"} {
			if row(m, what) < 0 {
				t.Errorf("%s: the end of the line with %s is not in\n%s", mode, what, text(m))
			}
		}
	}
}

// A line that has more rows than the pane starts with the row of its first change, and each
// of its rows can be reached.
func TestLineLongerThanPane(t *testing.T) {
	p := review.Part{Name: "stdout"}
	var all strings.Builder
	for i := range 300 {
		fmt.Fprintf(&all, "<%03d>", i)
	}
	p.Old, p.Now = []byte(all.String()), []byte(strings.Replace(all.String(), "<200>", "<!!!>", 1))
	m := screenOf(t, 86, 12, p) // 50 columns of text: no number is broken
	if row(m, "<200>") < 0 {
		t.Fatalf("the first change is not in\n%s", text(m))
	}
	m.scroll(-1000)
	if m.view.top != (place{}) {
		t.Fatalf("the top is %v", m.view.top)
	}
	seen := map[string]bool{}
	for range 60 {
		for _, number := range numbers.FindAllString(text(m), -1) {
			seen[number] = true
		}
		press(m, "J")
	}
	for i := range 300 {
		if number := fmt.Sprintf("<%03d>", i); !seen[number] {
			t.Errorf("%s was never shown", number)
		}
	}
	m.Update(tea.WindowSizeMsg{Width: 300, Height: 12})
	_ = m.rows() // the row of the wrapped line is gone
}

var numbers = regexp.MustCompile(`<\d\d\d>`)
