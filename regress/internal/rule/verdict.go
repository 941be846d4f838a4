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
	examplesMax  = 200  // forgotten places that are listed, and kept of a production
	uniformMin   = 2    // cases of the other half
)

// A Book records what rules do to texts.
type Book struct {
	set     *set
	tallies []tally
	budget  *Budget
	cases   int32 // cases so far
}

type tally struct {
	result  cause.Rule
	isWrong bool // in some case, of either half, it does not make the changes of the cause, or makes others
	counts  []productionCount
}

// A productionCount counts the places where a production matches.
type productionCount struct {
	right, wrong   int               // in the other half
	left           []cause.RulePlace // places that did not change, at most examplesMax
	leftCases      []int32           // the cases with those, by number
	changed, still float64           // all places: those that changed, and those that were left
	pairs, leftTwo float64           // pairs of places of one case: all, and those that were both left
	open           struct{ changed, left int }
}

// NewBook returns an empty book of rules. A nil rule is left out.
func NewBook(rules []*Rule, budget *Budget) *Book {
	b := &Book{set: newSet(rules), tallies: make([]tally, len(rules)), budget: budget}
	for i, r := range rules {
		if r != nil {
			b.tallies[i].counts = make([]productionCount, len(r.productions))
			b.tallies[i].result.Cut = r.isCut
		}
	}
	return b
}

// matchesIn returns the pages of texts, and the matches of each rule in them. It returns false if that, or to compare
// them with the edits of some causes, takes too many steps, or if the time is over.
func (b *Book) matchesIn(texts []Text, causes int) (pages []*page, found [][][]match, ok bool) {
	end := b.budget.steps + caseStepsMax
	take := func(steps int) bool { return b.budget.take(steps) && b.budget.steps < end }
	for _, t := range texts {
		if !take(byteSteps*(len(t.Old)+len(t.Now)) + causes*(len(t.Old)/byteSteps+editSteps*len(t.Edits)) + changeSteps*len(t.Edits)) {
			return nil, nil, false
		}
		p := newPage(t.Name, t.Part, t.Old)
		list, ok := b.set.find(p, take)
		if !ok {
			return nil, nil, false
		}
		pages, found = append(pages, p), append(found, list)
	}
	return pages, found, true
}

// Spend makes the book take its steps from another budget.
func (b *Book) Spend(budget *Budget) { b.budget = budget }

// Unread records a case that differs, and that was not read.
func (b *Book) Unread(causes []int) {
	for _, c := range causes {
		b.tallies[c].result.Unread++
	}
}

// Changed records a case that differs, with the causes that it shows.
func (b *Book) Changed(caseName string, texts []Text, causes []int) {
	pages, matches, ok := b.matchesIn(texts, len(causes))
	if !ok {
		b.Unread(causes)
		return
	}
	trains := Trains(caseName)
	exact := make([]bool, len(b.tallies))
	shows := make([]bool, len(b.tallies))
	for _, c := range causes {
		shows[c], exact[c] = true, true
	}
	places := make([]int, len(b.tallies))
	for n, t := range texts {
		p, found := pages[n], matches[n]
		changes := changesIn(p, t)
		whole := makes(p, changes, t.Now)
		for i := range b.tallies {
			if b.set.rules[i] == nil || !shows[i] && len(found[i]) == 0 {
				continue
			}
			out := newStudy(p, t.Name, changes, i).compare(found[i])
			y := &b.tallies[i]
			y.note(p, t, out, trains)
			exact[i] = exact[i] && out.exact && (whole || out.places == 0)
			places[i] += out.places
			y.isWrong = y.isWrong || len(out.left)+len(out.otherwise) > 0
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
		}
	}
	for i := range b.tallies {
		y := &b.tallies[i]
		y.closeCase(b.cases)
		switch {
		case !shows[i] || b.set.rules[i] == nil:
			continue
		case places[i] == 0: // its edits are in no text that was read
			y.result.Unread++
			continue
		case !trains:
			y.result.Cases++
			if exact[i] {
				y.result.Exact++
			}
		}
		y.isWrong = y.isWrong || !exact[i]
	}
	b.cases++
}

// Unchanged records a case that does not differ.
func (b *Book) Unchanged(caseName string, texts []Text) {
	pages, matches, ok := b.matchesIn(texts, 0)
	if !ok {
		return
	}
	trains := Trains(caseName)
	for n, t := range texts {
		for i, found := range matches[n] {
			if len(found) > 0 {
				b.tallies[i].note(pages[n], t, replay{left: found}, trains)
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
		b.tallies[i].closeCase(b.cases)
	}
	b.cases++
}

// closeCase adds the counts of a case to those of all.
func (y *tally) closeCase(number int32) {
	for i := range y.counts {
		q := &y.counts[i]
		changed, left := float64(q.open.changed), float64(q.open.left)
		n := changed + left
		q.changed, q.still = q.changed+changed, q.still+left
		q.pairs, q.leftTwo = q.pairs+n*(n-1)/2, q.leftTwo+left*(left-1)/2
		if left > 0 {
			q.leftCases = append(q.leftCases, number)
		}
		q.open.changed, q.open.left = 0, 0
	}
}

// note records what a rule did to a text.
func (y *tally) note(p *page, t Text, out replay, trains bool) {
	for _, m := range out.explained {
		q := &y.counts[m.production]
		if !trains {
			q.right++
		}
		q.open.changed++
	}
	if !trains {
		for _, m := range out.otherwise {
			y.counts[m.production].wrong++
		}
	}
	for _, m := range out.left {
		q := &y.counts[m.production]
		if !trains {
			q.wrong++
		}
		q.open.left++
		if len(q.left) < examplesMax {
			q.left = append(q.left, cause.RulePlace{Case: t.Name, Part: t.Part, Line: p.lineNumber(m.from)})
		}
	}
}

// Result returns what is known of the rule of a cause, or nil if it has none.
func (b *Book) Result(index int) *cause.Rule {
	y := &b.tallies[index]
	if b.set.rules[index] == nil || y.result.Cases+y.result.Unread == 0 {
		return nil
	}
	result := y.result
	result.Uniform = result.Cases >= uniformMin && result.Unread == 0 && !y.isWrong
	cases := map[int32]bool{}
	for i := range y.counts {
		q := &y.counts[i]
		if float64(result.Explained) < explainedMin*float64(result.Places) || !q.speaks() {
			continue
		}
		result.Forgotten += int(q.still)
		for _, c := range q.leftCases {
			cases[c] = true
		}
		result.Examples = append(result.Examples, q.left...)
	}
	result.ForgottenCases = len(cases)
	slices.SortFunc(result.Examples, func(x, y cause.RulePlace) int {
		return cmp.Or(cmp.Compare(x.Case, y.Case), cmp.Compare(x.Part, y.Part), cmp.Compare(x.Line, y.Line))
	})
	result.Examples = slices.Compact(result.Examples)
	result.Examples = result.Examples[:min(examplesMax, len(result.Examples))]
	return &result
}

// speaks reports whether the places that a production left may be called forgotten.
func (q *productionCount) speaks() bool {
	return q.right >= provenMin && lowerShare(q.right, q.wrong) >= shareMin && q.isScattered()
}

// isScattered reports whether the places that a production left are spread over cases as by chance: few cases have
// several of them. Else something about these cases decides, and not an oversight.
func (q *productionCount) isScattered() bool {
	share := q.still / max(1, q.changed+q.still)
	expected := share * share * q.pairs
	return q.leftTwo <= pairsMax*expected+3*math.Sqrt(expected)+1
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
