package terminal

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

// confirmation describes exactly what would be written: first the sum, then each decision.
func (m *model) confirmation() []piece {
	var sum, each []piece
	d := m.desk
	c := d.Changes()
	ids := c.IDs()
	counts := map[review.State]int{}
	for _, id := range ids {
		item, _ := d.Index(id)
		each = append(each, m.choice(item, c.Decisions[id], c.Before[id]))
		counts[c.Decisions[id]]++
	}
	add := func(s palette.Style, format string, args ...any) {
		sum = append(sum, piece{fmt.Sprintf(format, args...), s})
	}
	add(palette.Bold, "This will be written, and nothing else:")
	add(palette.Bold, "%s", decisions(counts))
	switch {
	case d.Golden == "":
		add(palette.Plain, "A compare has no golden: these are decisions on run %s, and no case changes.", d.Run)
	case d.Shut() != "":
		add(palette.Yellow, "No case goes into %s: %s", d.Golden, d.Shut())
	default:
		add(palette.Bold, "%s into %s", does(len(c.Promote), "go", "goes"), d.Golden)
	}
	if waits := d.Waiting(); len(waits) > 0 {
		add(palette.Plain, "%s for other causes to be accepted, among them %s", does(len(waits), "wait", "waits"), d.Cases()[waits[0].Case].Printed)
	}
	if c.Stay > 0 {
		add(palette.Yellow, "%s in the golden although a cause is no longer accepted", does(c.Stay, "stay", "stays"))
	}
	for _, n := range d.Notes {
		add(palette.Yellow, "note: %s", n)
	}
	return slices.Concat(sum, []piece{{"", palette.Plain}}, each)
}

// choice describes the decision on an item, and the written one that it replaces.
func (m *model) choice(item int, s, before review.State) piece {
	it := &m.desk.Items()[item]
	was := ""
	if before != review.Undecided && s != review.Undecided {
		was = ", was " + string(before)
	}
	word, colour := "accept", palette.Green
	switch s {
	case review.Rejected:
		word, colour = "reject", palette.Red
	case review.Undecided:
		word, colour = "take back", palette.Yellow
	}
	return piece{fmt.Sprintf("  %-9s %-4s %s  (%s)%s", word, it.ID, it.Name, readable.Count(it.Cases, "case"), was), colour}
}

func decisions(counts map[review.State]int) string {
	total, kinds := 0, []string(nil)
	for _, one := range [...]struct {
		state review.State
		word  string
	}{{review.Accepted, "accept"}, {review.Rejected, "reject"}, {review.Undecided, "take back"}} {
		if n := counts[one.state]; n > 0 {
			total += n
			kinds = append(kinds, one.word+" "+readable.Number(n))
		}
	}
	if total == 0 {
		return "no decision"
	}
	return readable.Count(total, "decision") + ": " + strings.Join(kinds, ", ")
}

// does counts cases, with the verb that fits the number.
func does(n int, many, one string) string {
	if n == 1 {
		return "1 case " + one
	}
	return readable.Number(n) + " cases " + many
}

func helpText(noun string) (text []piece) {
	for _, row := range [...][2]string{
		{"a r s", "accept, reject, skip the " + noun + "; then the next undecided one"},
		{"A R S", "the same for all undecided ones that pass the filter; A leaves buckets out"},
		{"u", "undo the last decision, also one on many"},
		{"", ""},
		{"↑ ↓  j k", "another " + noun + "; g G the first, the last"},
		{"n p  tab", "another case of the " + noun},
		{"v", "the form: unified or side by side"},
		{"o", "show or hide edits that belong only to other causes"},
		{"space b", "scroll the difference; J K by half"},
		{"f", "fold the family of the " + noun + ", or open it: a decision on a folded one is one on all its " + noun + "s"},
		{"F", "the same for all families"},
		{"/", "filter by ID, name, kind, family or case, also with a regular expression; esc removes it"},
		{"", ""},
		{"enter q", "done: shows what would be written, y then writes it"},
		{"ctrl+c", "leave at once; nothing is written"},
		{"", ""},
		{"✓ ✗ –", "accepted, rejected, skipped; * not written yet"},
		{"▸3", "a folded family: three more " + noun + "s are below this one"},
		{"", ""},
		{"", "A case goes into the golden once all its " + noun + "s are accepted."},
	} {
		text = append(text, piece{fmt.Sprintf("  %-9s %s", row[0], row[1]), palette.Plain})
	}
	return text
}
