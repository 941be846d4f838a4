package plan

import (
	"slices"
	"strings"
)

// Baseline holds a golden's cases and its recorded selection. The zero Baseline has no cases and
// selects everything.
type Baseline struct {
	Names    []string // of its cases, sorted
	Selected *Chooser // the selection of the record; nil = everything
}

// has reports whether the baseline has a case.
func (b Baseline) has(caseName string) bool {
	_, found := slices.BinarySearch(b.Names, caseName)
	return found
}

// admits reports whether the baseline admits a name. It admits all names that it
// has, including those accepted from outside the selection. Unless a sample was
// recorded, it also admits the other names that the recorded selection wants.
func (b Baseline) admits(caseName string) bool {
	return b.has(caseName) || b.selects(caseName) && !b.isSampled()
}

// selects reports whether the recorded selection wants a name. It ignores the
// recorded sample.
func (b Baseline) selects(caseName string) bool {
	return b.Selected == nil || b.Selected.Wants(caseName)
}

func (b Baseline) isSampled() bool { return b.Selected != nil && b.Selected.sample > 0 }

// Choice is the choice of cases for a run.
type Choice struct {
	Run        []int    // indexes in the corpus, ascending
	Missing    []string // wanted cases of the baseline that the corpus lacks, sorted
	NotSampled int      // cases of the corpus that only the recorded sample leaves out
}

// Choose returns the names of the corpus that run, and the names of the baseline that the corpus
// lacks. Both c and the baseline must want a name. A sample of c is drawn last, from the names of
// corpus and baseline together. So no other case replaces a case that the corpus lost.
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
	for _, k := range c.drawSample(keys) {
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

// candidate is a name that globs, filters and partitions select.
type candidate struct {
	name  string
	index int // in the corpus, or missing
	key   string
}

const missing = -1

// drawSample returns the candidates with the lowest digests of a second hash. So a sample does not
// change when other names come and go, and is independent of the partition.
func (c *Chooser) drawSample(all []candidate) []candidate {
	if c.sample == 0 || len(all) <= c.sample {
		return all
	}
	for i := range all {
		all[i].key = sampleKey(all[i].name)
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.key, b.key) })
	return all[:c.sample]
}
