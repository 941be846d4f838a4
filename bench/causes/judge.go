package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// An instance is an edit in a case.
type instance struct {
	member, part int
	edit
}

// sample prints pairs of edits with one cause. For half of them it draws the first edit from all
// edits. For the others it draws a cause first, so that rare causes appear too. The second edit is
// from another case, if possible. Folds of rare causes are left out, because nobody calls them one
// change. At the end it lists the causes with their numbers of edits: whoever says which of them come from one
// change knows how many pairs of edits of one change have one cause.
func (b *bench) sample(p pair, c compared, files contents) error {
	all, by := instances(c.found)
	if len(all) == 0 {
		fmt.Fprintf(b.out, "\n%s: no cause has two edits\n", p.name)
		return nil
	}
	var shown []int
	for i, of := range by {
		if len(of) > 1 {
			shown = append(shown, i)
		}
	}
	r := rand.New(rand.NewPCG(b.seed, 0))
	for n := range b.judge {
		first := all[r.IntN(len(all))]
		if n%2 == 1 {
			of := by[shown[r.IntN(len(shown))]]
			first = of[r.IntN(len(of))]
		}
		second := other(r, by[first.cause], first)
		fmt.Fprintf(b.out, "\n=== %s %d: %s %s\n", p.name, n+1, c.found.causes[first.cause].ID, c.found.causes[first.cause].Name)
		for _, in := range []instance{first, second} {
			if err := b.show(c.found, files, in); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(b.out, "\n=== %s: causes\n", p.name)
	for i, of := range by {
		if len(of) > 0 {
			fmt.Fprintf(b.out, "%s\t%d edits\t%s\n", c.found.causes[i].ID, len(of), c.found.causes[i].Name)
			if err := b.show(c.found, files, of[r.IntN(len(of))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// instances returns the edits of the causes with at least two edits, all together and by cause.
func instances(f found) (all []instance, by [][]instance) {
	by = make([][]instance, len(f.causes))
	for m := range f.members {
		for p := range f.members[m].parts {
			for _, e := range f.members[m].parts[p].edits {
				by[e.cause] = append(by[e.cause], instance{m, p, e})
			}
		}
	}
	for i, of := range by {
		if kind := f.causes[i].Kind; len(of) < 2 || kind == "other" || kind == "rewritten" {
			by[i] = nil
		}
		all = append(all, by[i]...)
	}
	return all, by
}

// other draws an instance other than the first, of another case if possible.
func other(r *rand.Rand, of []instance, first instance) instance {
	var elsewhere, here []instance
	for _, in := range of {
		switch {
		case in.member != first.member:
			elsewhere = append(elsewhere, in)
		case in != first:
			here = append(here, in)
		}
	}
	if len(elsewhere) > 0 {
		return elsewhere[r.IntN(len(elsewhere))]
	}
	return here[r.IntN(len(here))]
}

// widthMax is how much of a line is shown, before and behind an edit.
const widthMax = 100

func (b *bench) show(f found, files contents, in instance) error {
	m := f.members[in.member]
	old, now, err := files.of(m.name, m.parts[in.part])
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "--- %s, line %d\n%s%s", m.name, 1+bytes.Count(old[:in.old.from], []byte("\n")), around("-", old, in.old), around("+", now, in.now))
	return nil
}

// around shows the lines that an edit is in, with one before and one behind, and the edit
// itself between brackets.
func around(mark string, text []byte, s span) string {
	from := max(lineBefore(text, s.from, 2), s.from-widthMax)
	to := min(lineBehind(text, s.to, 2), s.to+widthMax)
	inside := string(text[s.from:s.to])
	if len(inside) > 6*widthMax {
		inside = inside[:3*widthMax] + "……" + inside[len(inside)-3*widthMax:]
	}
	shown := string(text[from:s.from]) + "⟦" + inside + "⟧" + string(text[s.to:to])
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(shown, "\n"), "\n") {
		out.WriteString(mark + line + "\n")
	}
	return out.String()
}

// lineBefore is where the n-th line before and with a place begins.
func lineBefore(text []byte, at, n int) int {
	for range n {
		i := bytes.LastIndexByte(text[:at], '\n')
		if i < 0 {
			return 0
		}
		at = i
	}
	return at + 1
}

func lineBehind(text []byte, at, n int) int {
	for range n {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}
