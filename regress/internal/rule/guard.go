package rule

import (
	"math"
)

// A guard requires a fact of the context, or its absence. A golden has its fields.
type guard struct {
	Kind   int    `json:"kind"`
	Value  uint64 `json:"value"`
	Absent bool   `json:"absent,omitempty"`
}

func (g guard) holds(c *context) bool { return (c[g.Kind] == g.Value) != g.Absent }

// guardsMax bounds the guards of a production.
const guardsMax = 4

// margin is how much better than chance a guard must separate changed places from others, in nats of
// likelihood beyond what the best of all examined guards has by chance.
const margin = 6.0

// absenceMargin is the margin of a guard that requires that a fact is absent. Few places can suggest one.
const absenceMargin = 12.0

// chooseGuards returns guards that hold at changed places and rather not at others.
func chooseGuards(changed, others []*context) (guards []guard) {
	for len(others) > 0 && len(guards) < guardsMax && len(changed) > 0 {
		g, gain := bestGuard(changed, others)
		if gain <= 0 {
			break
		}
		guards = append(guards, g)
		changed, others = keep(changed, g), keep(others, g)
	}
	return append(guards, sharedGuards(changed)...)
}

// sharedGuards returns guards of the nearest facts that many changed places have in common. They keep a rule from
// places unlike all that it was learned from.
func sharedGuards(changed []*context) (guards []guard) {
	if len(changed) < sharedMin {
		return nil
	}
	for _, kind := range nearest {
		g := guard{kind, changed[0][kind], false}
		if len(keep(changed, g)) == len(changed) {
			guards = append(guards, g)
		}
	}
	return guards
}

// sharedMin is how many changed places must have a fact in common to make it a guard without any evidence
// from others.
const sharedMin = 20

// nearest are the facts that sharedGuards looks at: the tokens beside a place, the first of its line, how many are behind
// it in its line, the sort of part, whether it is in a string or a comment, and the extension of the case's name.
var nearest = [...]int{0, 1, 19, 43, 46, 47, 48}

// isProven reports whether a separation beyond chance is enough.
func (g guard) isProven(separation float64) bool {
	if g.Absent {
		return separation >= absenceMargin
	}
	return separation >= margin
}

func keep(list []*context, g guard) (kept []*context) {
	for _, c := range list {
		if g.holds(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// bestGuard returns the guard that gains most information about what changes. It gains nothing if it is no
// better than chance.
func bestGuard(changed, others []*context) (best guard, gain float64) {
	p, n := float64(len(changed)), float64(len(others))
	values := 0
	type found struct {
		guard
		p, n float64
	}
	var all []found
	for kind := range contextKinds {
		count := map[uint64][2]int32{}
		for _, c := range changed {
			v := count[c[kind]]
			v[0]++
			count[c[kind]] = v
		}
		for _, c := range others {
			v, known := count[c[kind]]
			if !known && len(count) > valuesMax {
				continue
			}
			v[1]++
			count[c[kind]] = v
		}
		values += len(count)
		for value, v := range count {
			a, b := float64(v[0]), float64(v[1])
			if a*n > b*p {
				all = append(all, found{guard{kind, value, false}, a, b})
			} else if b*p > a*n && p > a {
				all = append(all, found{guard{kind, value, true}, p - a, n - b})
			}
		}
	}
	least := math.Log(float64(values))
	base := math.Log(p / (p + n))
	for _, f := range all {
		g := f.p * (math.Log(f.p/(f.p+f.n)) - base)
		if g < gain || g == gain && !before(f.guard, best) || !f.isProven(separation(f.p, f.n, p-f.p, n-f.n)-least) && (f.Absent || f.p < p || p < sharedMin) {
			continue
		}
		best, gain = f.guard, g
	}
	return best, gain
}

// valuesMax bounds the values of one fact that are counted.
const valuesMax = 4096

// before orders guards that gain the same, so that the order of maps has no effect: a fact that is nearer
// comes first.
func before(a, b guard) bool {
	if a.Absent != b.Absent {
		return !a.Absent
	}
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	return a.Value < b.Value
}

// separation returns how much likelier two groups of places are with two shares of changed places than with one.
func separation(p1, n1, p2, n2 float64) float64 {
	return likelihood(p1, n1) + likelihood(p2, n2) - likelihood(p1+p2, n1+n2)
}

func likelihood(p, n float64) (sum float64) {
	if p > 0 {
		sum += p * math.Log(p/(p+n))
	}
	if n > 0 {
		sum += n * math.Log(n/(p+n))
	}
	return sum
}
