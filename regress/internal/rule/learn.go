package rule

import (
	"cmp"
	"slices"
)

// A Rule reproduces a cause.
type Rule struct {
	productions []production
	isCut       bool // learning stopped at its limit of steps
}

// Learn learns the rule of a cause from texts with its edits, and from others without any. It stops at a limit of
// steps with what it has. It returns nil if the time is over before.
func Learn(index int, changed, unchanged []Text, budget *Budget) *Rule {
	l := &learner{budget: budget, end: budget.steps + learnStepsMax}
	var studies []*study
	for i, t := range append(slices.Clone(changed), unchanged...) {
		if !l.take(byteSteps*(len(t.Old)+len(t.Now)) + changeSteps*len(t.Edits)) {
			break
		}
		p := newPage(t.Name, t.Part, t.Old)
		s := newStudy(p, t.Name, changesIn(p, t), index)
		if i >= len(changed) {
			s.group = ""
		}
		studies = append(studies, s)
	}
	r := &Rule{productions: l.learn(studies)}
	if budget.isOver {
		return nil
	}
	r.isCut = l.isCut
	return r
}

// A learner learns one rule.
type learner struct {
	budget *Budget
	end    int64 // the steps of the budget at which it stops
	isCut  bool  // it stopped there
}

// take takes steps, and reports whether learning may go on.
func (l *learner) take(steps int) bool {
	ok := l.budget.take(steps)
	l.isCut = l.isCut || l.budget.steps >= l.end
	return ok && !l.isCut
}

// A production replaces a pattern where guards hold.
type production struct {
	candidate
	guards []guard
	right  int // places of the training half that it reproduces
	wrong  int // places of the training half that match and did not change
}

// productionsMax bounds the productions of a rule.
const productionsMax = 24

// A group is a candidate with the changes that it may reproduce.
type group struct {
	candidate
	id      string
	members []member
	tried   bool
}

type member struct{ study, change int }

// learn returns the productions that reproduce most changes.
func (l *learner) learn(studies []*study) (list []production) {
	groups := l.groupsOf(studies)
	for len(list) < productionsMax && l.take(0) {
		g := l.bestGroup(groups, studies)
		if g == nil {
			return list
		}
		q, covers, ok := l.produce(g, studies)
		if !ok {
			return list
		}
		if len(covers) < membersMin || precision(q.right, q.wrong) < precisionMin {
			g.tried = true
			continue
		}
		for _, m := range covers {
			studies[m.study].covered[m.change] = true
		}
		list = append(list, q)
	}
	return list
}

const (
	membersMin   = 2    // changes that a production must reproduce
	precisionMin = 0.75 // the share of the places that match which must have changed
)

func precision(right, wrong int) float64 { return float64(right) / float64(max(1, right+wrong)) }

// groupsOf collects the candidates of all changes.
func (l *learner) groupsOf(studies []*study) (groups []*group) {
	known := map[string]*group{}
	for i, s := range studies {
		for j, c := range s.changes {
			if !l.take(candidateSteps * (1 + len(c.now))) {
				return nil
			}
			for _, q := range candidatesOf(s.page, c) {
				id := q.id()
				l.take(candidateSteps + len(id))
				g := known[id]
				if g == nil {
					g = &group{candidate: q, id: id}
					known[id] = g
					groups = append(groups, g)
				}
				if n := len(g.members); n == 0 || g.members[n-1] != (member{i, j}) {
					g.members = append(g.members, member{i, j})
				}
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g *group) bool { return len(g.members) < membersMin })
	slices.SortStableFunc(groups, func(x, y *group) int {
		return cmp.Or(cmp.Compare(len(y.members), len(x.members)), cmp.Compare(x.level, y.level), cmp.Compare(x.id, y.id))
	})
	return groups
}

// bestGroup returns the group with most changes that no production reproduces, in at least two cases, or nil.
func (l *learner) bestGroup(groups []*group, studies []*study) (best *group) {
	most := membersMin - 1
	for _, g := range groups {
		if g.tried || len(g.members) <= most {
			continue
		}
		n, first, cases := 0, "", 0
		l.take(len(g.members))
		for _, m := range g.members {
			if s := studies[m.study]; !s.covered[m.change] {
				n++
				if s.group != first {
					first = s.group
					cases++
				}
			}
		}
		if n > most && cases > 1 {
			best, most = g, n
		}
	}
	return best
}

const (
	changedMax = 1500 // places from which guards are chosen
	othersMax  = 4000
)

// produce chooses guards for a candidate, and returns the changes that it then reproduces. It returns false if it
// had to stop.
func (l *learner) produce(g *group, studies []*study) (q production, covers []member, ok bool) {
	q.candidate = g.candidate
	var changed, others []*context
	known := map[place]bool{}
	for round := range roundsMax {
		right, wrong := q.places(studies, l)
		if !l.take(contextSteps * min(len(right)+len(wrong), changedMax+othersMax)) {
			return q, nil, false
		}
		q.right, q.wrong = len(right), len(wrong)
		if round == 0 {
			for _, at := range sample(right, changedMax) {
				changed = append(changed, contextAt(studies, at))
			}
		}
		fresh := 0
		for _, at := range sample(wrong, othersMax) {
			if !known[at] {
				known[at] = true
				fresh++
				others = append(others, contextAt(studies, at))
			}
		}
		if round > 0 && fresh == 0 || round == roundsMax-1 {
			for _, at := range right {
				covers = append(covers, member{at.study, at.change})
			}
			break
		}
		q.guards = chooseGuards(changed, others)
		l.take(factSteps * contextKinds * (len(changed) + len(others)) * (1 + len(q.guards)))
	}
	return q, covers, true
}

// places returns where a production matches: places that changed so, and others. It leaves out places that
// other productions reproduce, or other causes change. It stops where the learner must.
func (q *production) places(studies []*study, l *learner) (right, wrong []place) {
	for i, s := range studies {
		nth := 0
		if !l.take(s.items()) {
			break
		}
		q.each(s.page, func(a, b int) bool {
			if !l.take(contextSteps) {
				return false
			}
			at := place{i, a, b, nth, -1}
			nth++
			text, ok := render(s.page, q.outputs, a, b)
			if !ok || !q.holdsAt(s.page, at) {
				return true
			}
			var is fate
			switch at.change, is = s.fateOf(a, b, text); is {
			case reproduced:
				if !s.covered[at.change] {
					right = append(right, at)
				}
			case left, otherwise:
				wrong = append(wrong, at)
			}
			return true
		})
	}
	return right, wrong
}

// roundsMax bounds how often guards are chosen again, with places that they failed to exclude.
const roundsMax = 3

// A place is a match of a pattern.
type place struct {
	study, from, to, nth int
	change               int // -1 if it did not change so
}

func contextAt(studies []*study, at place) *context {
	c := contextOf(studies[at.study].page, at.from, at.to, at.nth)
	return &c
}

func (q *production) holdsAt(p *page, at place) bool {
	if len(q.guards) == 0 {
		return true
	}
	c := contextOf(p, at.from, at.to, at.nth)
	return q.accepts(&c)
}

func (q *production) accepts(c *context) bool {
	for _, g := range q.guards {
		if !g.holds(c) {
			return false
		}
	}
	return true
}

// each calls visit for each match in a page, until it returns false.
func (q *production) each(p *page, visit func(a, b int) bool) {
	for i := q.parity; i < p.items(); i += 2 {
		if a, b, ok := q.matches(p, i); ok && !visit(a, b) {
			return
		}
	}
}

// sample returns at most n evenly spaced elements.
func sample[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	some := make([]T, n)
	for i := range some {
		some[i] = list[i*len(list)/n]
	}
	return some
}
