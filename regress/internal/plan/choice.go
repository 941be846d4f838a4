package plan

import (
	"slices"
	"strings"
)

// Baseline is what a golden says about which cases run. The zero Baseline has
// no cases and selects everything.
type Baseline struct {
	Names    []string // of its cases, sorted
	Selected *Chooser // how they were selected when it was recorded; nil = everything
}

// has reports whether the baseline has a case of that name.
func (b Baseline) has(caseName string) bool {
	_, found := slices.BinarySearch(b.Names, caseName)
	return found
}

// admits reports whether the recorded selection wants a name. It wants all that
// the baseline has, also what was accepted from outside the selection. A recorded
// sample wants nothing else.
func (b Baseline) admits(caseName string) bool {
	return b.has(caseName) || b.selects(caseName) && !b.sampled()
}

// selects leaves the recorded sample out of account.
func (b Baseline) selects(caseName string) bool {
	return b.Selected == nil || b.Selected.Wants(caseName)
}

func (b Baseline) sampled() bool { return b.Selected != nil && b.Selected.sample > 0 }

// Choice is the cases of a run.
type Choice struct {
	Run        []int    // indices in the corpus, ascending
	Missing    []string // of the baseline, sorted: they are wanted, and the corpus lacks them
	NotSampled int      // cases of the corpus that only the recorded sample leaves out
}

// Choose returns which of the corpus's names run, and which of the baseline's
// are missing from the corpus. What c wants and the recorded selection wants is
// wanted. A sample of c is taken last, from the names of both together: when the
// corpus loses a case, no other takes its place.
func (c *Chooser) Choose(names []string, b Baseline) Choice {
	var choice Choice
	var keys []candidate
	present := map[string]bool{}
	for i, n := range names {
		if len(b.Names) > 0 {
			present[n] = true
		}
		switch {
		case !c.Wants(n):
		case b.admits(n):
			keys = append(keys, candidate{name: n, index: i})
		case b.selects(n):
			choice.NotSampled++
		}
	}
	for _, n := range b.Names {
		if !present[n] && c.Wants(n) {
			keys = append(keys, candidate{name: n, index: missing})
		}
	}
	for _, k := range c.sampled(keys) {
		if k.index == missing {
			choice.Missing = append(choice.Missing, k.name)
		} else {
			choice.Run = append(choice.Run, k.index)
		}
	}
	slices.Sort(choice.Run)
	slices.Sort(choice.Missing)
	return choice
}

// candidate is a name that globs, filters and partitions want.
type candidate struct {
	name  string
	index int // in the corpus, or missing
	key   string
}

const missing = -1

// sampled returns the candidates with the lowest digests of a second hash: a
// sample does not change when other names come and go, and is independent of the
// partition.
func (c *Chooser) sampled(all []candidate) []candidate {
	if c.sample == 0 || len(all) <= c.sample {
		return all
	}
	for i := range all {
		all[i].key = sampleKey(all[i].name)
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.key, b.key) })
	return all[:c.sample]
}
