package terminal

import (
	"fmt"

	"muster/regress/internal/readable"
	"muster/regress/internal/review"
)

// confirmation says exactly what would be written.
func (m *model) confirmation() (text []piece) {
	d := m.desk
	c := d.Changes()
	add := func(s style, format string, args ...any) { text = append(text, piece{fmt.Sprintf(format, args...), s}) }
	add(bold, "This will be written, and nothing else:")
	add(plain, "")
	for _, id := range c.IDs() {
		item, _ := d.Index(id)
		it := &d.Items()[item]
		over := ""
		if theirs, contested := d.Contested(item); contested {
			over = "  over somebody else's: " + verb(theirs)
		}
		word, colour := "accept", added
		switch c.Decisions[id] {
		case review.Rejected:
			word, colour = "reject", removed
		case review.Undecided:
			word, colour = "take back", yellow
		}
		add(colour, "  %-9s %-4s %s  (%s)%s", word, id, readable.Line(it.Name), readable.Count(it.Cases, "case"), over)
	}
	if len(c.IDs()) == 0 {
		add(plain, "  no decision")
	}
	add(plain, "")
	if d.Golden == "" {
		add(plain, "A compare has no golden: these are decisions on run %s, and no case changes.", d.Run)
	} else {
		add(bold, "%s into %s", goes(len(c.Promote)), readable.Line(d.Golden))
	}
	if waits := d.Waiting(); len(waits) > 0 {
		add(plain, "%s for other causes to be accepted, among them %s", wait(len(waits)), d.Cases()[waits[0].Case].Printed)
	}
	if c.Stay > 0 {
		add(yellow, "%s in the golden although a cause is no longer accepted", stay(c.Stay))
	}
	for _, n := range m.notes {
		add(yellow, "note: %s", readable.Line(n))
	}
	return text
}

func goes(n int) string {
	if n == 1 {
		return "1 case goes"
	}
	return readable.Number(n) + " cases go"
}

func wait(n int) string {
	if n == 1 {
		return "1 case waits"
	}
	return readable.Number(n) + " cases wait"
}

func stay(n int) string {
	if n == 1 {
		return "1 case stays"
	}
	return readable.Number(n) + " cases stay"
}

func helpText() (text []piece) {
	for _, row := range [...][2]string{
		{"a r s", "accept, reject, skip the cause; then the next undecided one"},
		{"A R S", "the same for all that remain: undecided, and passing the filter"},
		{"u", "undo the last decision, also one on many"},
		{"", ""},
		{"↑ ↓  j k", "another cause; g G the first, the last"},
		{"n p  tab", "another case of the cause"},
		{"v", "the form: unified, side by side, words"},
		{"o", "show also what belongs to other causes alone"},
		{"space b", "scroll the difference; J K by half, ← → sideways"},
		{"/", "filter by name, ID, family, case or regular expression; esc takes it away"},
		{"", ""},
		{"enter q", "done: shows what would be written, y then writes it"},
		{"ctrl+c", "leave at once; nothing is written"},
		{"", ""},
		{"✓ ✗ –", "accepted, rejected, skipped; * not written yet, ! others decided otherwise"},
		{"", ""},
		{"", "A case goes into the golden once all its causes are accepted."},
	} {
		text = append(text, piece{fmt.Sprintf("  %-9s %s", row[0], row[1]), plain})
	}
	return text
}
