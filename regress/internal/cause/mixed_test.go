package cause_test

import (
	"flag"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

var mixes = flag.Int("mixes", 2, "how many mixes of eight changes TestMixedChanges makes of each emitter")

// A mark is a line of a case that a change touched.
type mark struct {
	caseName string
	line     int
}

// Among seven others, a change is found in the cases and lines in which it is found alone.
func TestMixedChanges(t *testing.T) {
	const cases, mixed = 120, 8
	for _, kind := range emitterKinds() {
		t.Run(kind.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(*mixes), 7))
			same, all := 0, 0
			for mix := range *mixes {
				changes := 0
				for _, c := range r.Perm(kind.changes)[:mixed] {
					changes |= 1 << c
				}
				s, n, report := compareMixed(&kind, uint64(mix)*cases, cases, changes)
				same, all = same+s, all+n
				if s < n {
					t.Logf("mix %d, changes %b: %d of %d lines as alone%s", mix, changes, s, n, report)
				}
			}
			if same*1000 < all*999 {
				t.Errorf("%d of %d lines of changes are found as when the change is alone", same, all)
			}
		})
	}
}

// compareMixed returns how many lines have a change alone or in the mix, and how many have it in both.
func compareMixed(kind *emitterKind, seed uint64, cases, changes int) (same, all int, report string) {
	write := func(changes int) (list []cause.Case) {
		for i := range cases {
			old, now := kind.write(seed+uint64(i), 0), kind.write(seed+uint64(i), changes)
			if old != now {
				list = append(list, changedCase(fmt.Sprintf("p%03d", i), old, now))
			}
		}
		return list
	}
	text := write(changes)
	found := analyseCases(text...)
	votes := make([]map[int]int, len(found.Causes)) // of edits alone that touch those of the cause, by change
	for i := range votes {
		votes[i] = map[int]int{}
	}
	alone := map[int]map[mark]bool{}
	for c := range bits.Len(uint(changes)) {
		if changes&(1<<c) == 0 {
			continue
		}
		list := write(1 << c)
		one := analyseCases(list...)
		alone[c] = map[mark]bool{}
		for _, of := range linesByCause(one, list) {
			maps.Copy(alone[c], of)
		}
		for _, m := range one.Members {
			with, _ := found.Member(m.Name)
			for _, e := range m.Parts[0].Edits {
				if i := at(with.Parts[0].Edits, e.Old); i >= 0 {
					votes[i][c]++
				}
			}
		}
	}
	// each cause of the mix belongs to the change that has most of its edits
	in := map[int]map[mark]bool{}
	for i, of := range linesByCause(found, text) {
		best := -1
		for _, c := range slices.Sorted(maps.Keys(alone)) { // a tie goes to the first
			if n := votes[i][c]; n > 0 && (best < 0 || n > votes[i][best]) {
				best = c
			}
		}
		if in[best] == nil {
			in[best] = map[mark]bool{}
		}
		maps.Copy(in[best], of)
		report += fmt.Sprintf("\n%d of change %d: %s, %d lines", i, best, found.Causes[i].Name, len(of))
	}
	for c, lines := range alone {
		wrong := 0
		for m := range lines {
			all++
			if in[c][m] {
				same++
			} else if wrong++; wrong <= 3 {
				report += fmt.Sprintf("\nlost of change %d: %s line %d", c, m.caseName, m.line)
			}
		}
		for m := range in[c] {
			if !lines[m] {
				all++
				if wrong++; wrong <= 3 {
					report += fmt.Sprintf("\nwrongly of change %d: %s line %d", c, m.caseName, m.line)
				}
			}
		}
	}
	return same, all, report
}

// linesByCause returns the lines of the old text that edits of each cause touch.
func linesByCause(f *cause.Found, cases []cause.Case) []map[mark]bool {
	list := make([]map[mark]bool, len(f.Causes))
	for i := range list {
		list[i] = map[mark]bool{}
	}
	for _, c := range cases {
		m, _ := f.Member(c.Name)
		for _, e := range m.Parts[0].Edits {
			old := string(c.Parts[0].OldText)
			first := strings.Count(old[:e.Old.From], "\n")
			for n := range 1 + strings.Count(strings.TrimRight(old[e.Old.From:e.Old.To], "\n"), "\n") {
				list[e.Cause][mark{c.Name, first + n}] = true
			}
		}
	}
	return list
}
