package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

// Each of fifty thousand lines has a new line before it, which is cut off. The other lines are not
// copied for that; it once took a minute.
func TestManyLinesAreCutOff(t *testing.T) {
	var old, now strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&old, "a %s\n", letters(i))
		fmt.Fprintf(&now, "x\nb %s\n", letters(i))
	}
	cases := []cause.Case{changedCase("a", old.String(), now.String())}
	f := analyseCases(cases...)
	if len(f.Causes) != 2 {
		t.Errorf("%d causes%s", len(f.Causes), causeList(f))
	}
	checkReplay(t, f, cases)
}

// A part that exceeds its budget takes nothing from the other parts of its case.
func TestEachPartHasItsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	one := changedCase("a", "x ll\n", "x LL\n")
	for _, path := range []string{"a", "b"} { // before and after the part with one different word
		p := newPart(noiseText(1, 1<<19), noiseText(2, 1<<19))
		p.Key = outcome.Key{Place: outcome.File, Path: path}
		one.Parts = slices.Insert(one.Parts, len(one.Parts)*(int(path[0])-'a'), p)
	}
	m := analyseCases(one).Members[0]
	if n := len(m.Parts[1].Edits); n != 1 {
		t.Errorf("%d edits of a part in which one word differs", n)
	}
	if e := m.Parts[1].Edits; e[0].Old != (cause.Span{From: 2, To: 4}) {
		t.Errorf("the edit is at %v", e[0].Old)
	}
}

// Many patterns with the same beginning are taken apart and matched with an unknown case within the
// bounds.
func TestManyPatternsThatBeginAlike(t *testing.T) {
	const many = 8000
	text := func(seed, n int) (old, now string) {
		var was, is strings.Builder
		for i := range n {
			w := letters(seed + i)
			fmt.Fprintf(&was, "key%d;\n", i)
			fmt.Fprintf(&is, "key%d;\n", i)
			switch i % 4 {
			case 0:
				fmt.Fprintf(&is, "put %s . (\n", w)
			case 1:
				fmt.Fprintf(&was, "x %d = %s;\n", i, w)
				fmt.Fprintf(&is, "x %d = + (%s);\n", i, w)
			case 2:
				fmt.Fprintf(&was, "put(a, b, %s)\n", w)
			default:
				fmt.Fprintf(&was, "f%s(z%d);\n", w, i)
				fmt.Fprintf(&is, "g%s(z%d, f);\n", w, i)
			}
		}
		return was.String(), is.String()
	}
	old, now := text(0, many)
	var cases []cause.Case
	for i := range 6 {
		half := []int{len(old), len(now)}
		if i%2 == 0 { // so that half of the patterns is in twice as many cases
			a, b := text(0, many/2)
			half = []int{len(a), len(b)}
		}
		cases = append(cases, changedCase(fmt.Sprint("c", i), old[:half[0]], now[:half[1]]))
	}
	f := analyseCases(cases...)
	checkReplay(t, f, cases[:1])
	old, now = text(2*many, many)
	cause.NewIndex(f.Causes).Explain(changedCase("new", old, now))
}
