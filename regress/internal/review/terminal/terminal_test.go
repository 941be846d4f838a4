package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"muster/regress/internal/review"
)

// newDesk makes a review of so many causes with two cases each.
func newDesk(causes int) (d *review.Desk, loaded *int) {
	var items []review.Item
	var cases []review.Case
	for i := range causes {
		name := fmt.Sprintf("case\x1b/%d", i)
		items = append(items, review.Item{ID: fmt.Sprintf("G%d", i+1), Name: "\"\x1b]0;x\a漢\" → LL", Cases: 2, Lines: 3, Members: []int{2 * i, 2*i + 1}})
		cases = append(cases, review.Case{Name: name + "a", Printed: "a", Items: []int{i}}, review.Case{Name: name + "b", Printed: "b", Items: []int{i}})
	}
	loaded = new(int)
	text := []byte("x\ty\x1b[2J\n")
	return &review.Desk{
		Look: func(context.Context) (review.Now, error) {
			return review.Now{Promoted: func(string) bool { return false }}, nil
		},
		Review: review.New(items, cases, nil), Run: "run", Command: "check", Golden: "muster.golden",
		Difference: func(_ context.Context, name string) (review.Difference, error) {
			*loaded++
			if strings.HasSuffix(name, "b") {
				return review.Difference{}, errors.New("gone\x1b[2J")
			}
			return review.Difference{Where: "ran on w\x1b1", Parts: []review.Part{{Name: "stdout", Words: "1 → 2", Old: text, Now: bytes.ToUpper(text)}}}, nil
		},
	}, loaded
}

// press sends keys as if they were typed, and does what they ask for at once.
func press(m *model, keys ...string) {
	for _, key := range keys {
		msg := tea.KeyPressMsg{Text: key, Code: []rune(key)[0]}
		if key == "enter" {
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		}
		if cmd := m.key(msg); cmd != nil {
			m.Update(cmd())
		}
	}
}

// Every size, in every stage, gives as many rows as there are, none wider than the
// screen, and nothing in them drives the terminal.
func TestRowsFit(t *testing.T) {
	for _, colour := range []bool{false, true} {
		d, _ := newDesk(40)
		m := newModel(t.Context(), d, colour)
		m.Update(m.load()())
		for _, keys := range [][]string{{}, {"j", "n"}, {"v"}, {"v"}, {"J"}, {"a", "r", "A"}, {"?"}, {"x"}, {"q"}, {"x", "/", "z"}, {"enter"}} {
			press(m, keys...)
			for _, size := range [][2]int{{80, 24}, {200, 60}, {71, 10}, {40, 12}, {12, 4}, {5, 3}, {1, 1}} {
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				rows := m.rows()
				if len(rows) > size[1] {
					t.Errorf("%v after %v: %d rows", size, keys, len(rows))
				}
				for _, row := range rows {
					checkRow(t, row, size[0])
				}
			}
		}
	}
}

func checkRow(t *testing.T, row string, width int) {
	t.Helper()
	var text strings.Builder
	for rest := row; rest != ""; {
		if strings.HasPrefix(rest, "\x1b[") { // the colours are ours
			end := strings.IndexByte(rest, 'm')
			if strings.Trim(rest[2:end], "0123456789;") != "" {
				t.Fatalf("%q is no colour", rest[:end+1])
			}
			rest = rest[end+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			t.Fatalf("%q is sent as it is: %q", r, row)
		}
		text.WriteRune(r)
		rest = rest[size:]
	}
	if got := widths().StringWidth(text.String()); got > width {
		t.Errorf("%d columns on a screen of %d: %q", got, width, row)
	}
}

// Contents are read when they are looked at.
func TestContentsOnDemand(t *testing.T) {
	d, loaded := newDesk(3000)
	m := newModel(t.Context(), d, true)
	m.Update(m.load()())
	press(m, "j", "k", "j", "j")
	if *loaded != 5 {
		t.Errorf("%d cases were read", *loaded)
	}
	if text := strings.Join(m.rows(), "\n"); !strings.Contains(text, "on the engine: ran on w") {
		t.Errorf("where it ran is not in\n%s", text)
	}
	press(m, "A")
	if c := d.Changes(); len(c.Decisions) != 3000 || *loaded != 5 {
		t.Errorf("%d decisions, %d cases read", len(c.Decisions), *loaded)
	}
	press(m, "q")
	if text := strings.Join(m.rows(), "\n"); !strings.Contains(text, "accept    G1 ") || !strings.Contains(text, "more below") {
		t.Errorf("the confirmation says\n%s", text)
	}
}
