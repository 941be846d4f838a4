package rule

import (
	"cmp"
	"math"
	"slices"

	"muster/regress/internal/cause"
)

// What makes a rule speak of forgotten places. The texts that it was learned from do not count.
const (
	provenMin    = 10   // places that a production must have reproduced
	shareMin     = 0.75 // the least share of matching places that changed, at the lower end of a 95 % interval
	explainedMin = 0.98 // the share of the edits of the other half that the rule must make
	pairsMax     = 1.5  // pairs of places in one case that were both left: how many times as many as by chance, see isScattered
	missesMax    = 20   // edits that a rule does not reproduce, one a text
	examplesMax  = 200  // forgotten places that are listed
	keptMax      = 20_000
	uniformMin   = 2 // cases of the other half
)

// A Book records what rules do to texts.
type Book struct {
	set     *set
	tallies []tally
}

type tally struct {
	result       cause.Rule
	isWrong      bool
	right, wrong []int // by production, in the other half
	left         []leftPlace
	counts       [][]caseCount // by production, of the cases where it matches
	open         []caseCount   // by production, of the case that is being recorded
}

type leftPlace struct {
	cause.RulePlace
	production int
}

// caseCount counts the places of one case: those that changed, and those that were left.
type caseCount struct{ changed, left int32 }

// NewBook returns an empty book of rules, of which some may be nil.
func NewBook(rules []*Rule) *Book {
	b := &Book{set: newSet(rules), tallies: make([]tally, len(rules))}
	for i, r := range rules {
		if r != nil {
			n := len(r.productions)
			b.tallies[i] = tally{right: make([]int, n), wrong: make([]int, n), counts: make([][]caseCount, n), open: make([]caseCount, n)}
		}
	}
	return b
}

// Changed records a case that differs, with the causes that it shows.
func (b *Book) Changed(caseName string, texts []Text, causes []int) {
	trains := Trains(caseName)
	exact := make([]bool, len(b.tallies))
	shows := make([]bool, len(b.tallies))
	for _, c := range causes {
		shows[c], exact[c] = true, true
	}
	for _, t := range texts {
		p := newPage(t.Part, t.Old)
		changes := changesIn(p, t)
		found := b.set.find(p)
		for i := range b.tallies {
			if b.set.rules[i] == nil || !shows[i] && len(found[i]) == 0 {
				continue
			}
			out := newStudy(p, t.Name, changes, i).compare(found[i])
			y := &b.tallies[i]
			y.note(p, t, out, trains)
			exact[i] = exact[i] && out.exact
			if !trains && shows[i] {
				y.result.Places += out.places
				y.result.Explained += len(out.explained)
				if out.missed >= 0 && len(y.result.Misses) < missesMax {
					y.result.Misses = append(y.result.Misses, cause.RulePlace{Case: t.Name, Part: t.Part, Line: p.lineNumber(out.missed)})
				}
				if out.exact {
					y.result.Explained += out.places - len(out.explained)
				}
			}
			if len(out.left) > 0 && !trains {
				y.isWrong = true
			}
		}
	}
	for i := range b.tallies {
		y := &b.tallies[i]
		y.closeCase()
		if shows[i] && !trains && b.set.rules[i] != nil {
			y.result.Cases++
			if exact[i] {
				y.result.Exact++
			}
		}
	}
}

// Unchanged records a case that does not differ.
func (b *Book) Unchanged(caseName string, texts []Text) {
	trains := Trains(caseName)
	for _, t := range texts {
		p := newPage(t.Part, t.Old)
		for i, found := range b.set.find(p) {
			if len(found) > 0 {
				b.tallies[i].note(p, t, replay{left: found}, trains)
				b.tallies[i].result.Elsewhere += len(found)
				b.tallies[i].isWrong = true
			}
		}
	}
	for i := range b.tallies {
		if b.set.rules[i] == nil {
			continue
		}
		b.tallies[i].result.Unchanged++
		b.tallies[i].closeCase()
	}
}

// closeCase keeps the counts of a case.
func (y *tally) closeCase() {
	for q, c := range y.open {
		if c != (caseCount{}) {
			y.counts[q] = append(y.counts[q], c)
		}
	}
	clear(y.open)
}

// note records what a rule did to a text.
func (y *tally) note(p *page, t Text, out replay, trains bool) {
	for _, m := range out.explained {
		if !trains {
			y.right[m.production]++
		}
		y.open[m.production].changed++
	}
	for _, m := range out.left {
		if !trains {
			y.wrong[m.production]++
		}
		y.open[m.production].left++
		if len(y.left) < keptMax {
			y.left = append(y.left, leftPlace{cause.RulePlace{Case: t.Name, Part: t.Part, Line: p.lineNumber(m.from)}, m.production})
		}
	}
}

// Result returns what is known of the rule of a cause, or nil if it has none.
func (b *Book) Result(index int) *cause.Rule {
	y := &b.tallies[index]
	if b.set.rules[index] == nil || y.result.Cases == 0 {
		return nil
	}
	result := y.result
	result.Uniform = result.Cases >= uniformMin && result.Exact == result.Cases && !y.isWrong
	speaks := make([]bool, len(y.right))
	for q := range speaks {
		speaks[q] = float64(result.Explained) >= explainedMin*float64(result.Places) && y.right[q] >= provenMin && lowerShare(y.right[q], y.wrong[q]) >= shareMin && y.isScattered(q)
	}
	cases := map[string]bool{}
	slices.SortStableFunc(y.left, func(x, y leftPlace) int {
		return cmp.Or(cmp.Compare(x.Case, y.Case), cmp.Compare(x.Part, y.Part), cmp.Compare(x.Line, y.Line))
	})
	for _, f := range y.left {
		if !speaks[f.production] {
			continue
		}
		result.Forgotten++
		cases[f.Case] = true
		if n := len(result.Examples); n < examplesMax && (n == 0 || result.Examples[n-1] != f.RulePlace) {
			result.Examples = append(result.Examples, f.RulePlace)
		}
	}
	result.ForgottenCases = len(cases)
	return &result
}

// isScattered reports whether the places that a production left are spread over cases as by chance: few cases have
// several of them. Else something about these cases decides, and not an oversight.
func (y *tally) isScattered(q int) bool {
	var changed, left, pairs, leftPairs float64
	for _, c := range y.counts[q] {
		n, l := float64(c.changed+c.left), float64(c.left)
		changed, left = changed+float64(c.changed), left+l
		pairs, leftPairs = pairs+n*(n-1)/2, leftPairs+l*(l-1)/2
	}
	share := left / max(1, changed+left)
	expected := share * share * pairs
	return leftPairs <= pairsMax*expected+3*math.Sqrt(expected)+1
}

// lowerShare returns the lower end of Wilson's interval of 95 % for a share.
func lowerShare(right, wrong int) float64 {
	const z = 1.96
	n := float64(right + wrong)
	if n == 0 {
		return 0
	}
	p := float64(right) / n
	return (p + z*z/(2*n) - z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
}
