package cause

import (
	"slices"
	"strings"
	"sync"

	"muster/regress/internal/outcome"
)

// editsMax is of how many edits of one part the places are kept. Where there are more,
// their causes are known and their places are not.
const editsMax = 100_000

// An Analysis collects the differences of cases, and finds their causes.
type Analysis struct {
	scratch scratches
	mu      sync.Mutex
	words   *words
	cases   []*seen
}

// seen is what is kept of a case.
type seen struct {
	name           string
	size           int64
	keys           []int32 // patterns of what is no edit
	parts          []seenPart
	changed, total int64 // bytes of its texts
}

type seenPart struct {
	key     outcome.Key
	places  []place
	cuts    []int32
	tooMany bool // places has each pattern once
}

// New returns an analysis of no cases.
func New() *Analysis { return &Analysis{words: newWords()} }

// Add takes a case in. It may be called by several goroutines, and does its work in
// theirs; their order does not matter.
func (a *Analysis) Add(c Case) {
	s, w := a.look(c)
	global := make([]int32, len(w.list))
	a.mu.Lock()
	for i, word := range w.list {
		global[i] = a.words.add(word)
	}
	a.cases = append(a.cases, s)
	a.mu.Unlock()
	s.renumber(global)
}

func (s *seen) renumber(global []int32) {
	for i, k := range s.keys {
		s.keys[i] = global[k]
	}
	for _, p := range s.parts {
		for i := range p.places {
			q := &p.places[i]
			q.pattern, q.before, q.after = global[q.pattern], global[q.before], global[q.after]
		}
	}
}

// look compares a case. The numbers of what it returns are those of the words.
func (a *Analysis) look(c Case) (*seen, *words) {
	s, w := &seen{name: c.Name, size: c.Size}, newWords()
	scratch := a.scratch.get()
	defer a.scratch.pool.Put(scratch)
	ended, broken := ending(c)
	if ended != "" {
		s.keys = append(s.keys, w.add(ended))
	}
	for _, p := range c.Parts {
		isText := isText(p)
		if !broken && (!isText || p.Old.Exec != p.Now.Exec) {
			for _, k := range fileKeys(p) {
				s.keys = append(s.keys, w.add(k))
			}
		}
		if !isText {
			s.parts = append(s.parts, seenPart{key: p.Key})
			continue
		}
		t := &text{old: p.OldText, now: p.NowText, words: w, scratch: scratch}
		t.around[0].text, t.around[1].text = t.old, t.now
		scratch.work = workFor(p.OldText, p.NowText)
		if broken {
			t.replace(w.add(ended))
		} else {
			t.compare()
			t.moved()
			t.enclosed()
			if t.seen == nil {
				t.exact()
			}
		}
		s.add(t, p.Key)
	}
	if len(s.keys) == 0 && !slices.ContainsFunc(s.parts, func(p seenPart) bool { return len(p.places) > 0 }) {
		s.keys = append(s.keys, w.add(sortBinary.key("differs")))
	}
	return s, w
}

// add keeps what was found in a text.
func (s *seen) add(t *text, key outcome.Key) {
	p := seenPart{key: key, places: slices.Clip(t.places), cuts: slices.Clip(t.cuts)}
	if t.seen != nil {
		known := map[int32]bool{}
		p.tooMany, p.cuts = true, nil
		p.places = slices.DeleteFunc(p.places, func(q place) bool {
			again := known[q.pattern]
			known[q.pattern] = true
			return again
		})
		p.places = slices.Clone(p.places)
		for i := range p.places {
			p.places[i].cut, p.places[i].lines = -1, t.seen[p.places[i].pattern].lines
		}
	}
	s.changed += t.changed
	s.total += int64(max(len(t.old), len(t.now)))
	s.parts = append(s.parts, p)
}

// replace makes one edit of all that differs.
func (t *text) replace(pattern int32) {
	from := commonPrefix(t.old, t.now)
	to := commonSuffix(t.old[from:], t.now[from:])
	t.places, t.cuts = t.places[:0], nil
	if from < len(t.old) || from < len(t.now) {
		t.places = append(t.places, place{
			LiteralEdit: LiteralEdit{Span{from, len(t.old) - to}, Span{from, len(t.now) - to}},
			pattern:     pattern, lines: 1, cut: -1,
		})
	}
}

// exact sees that nothing differs outside of the edits. If it does, by two contents that
// had one key, there is one edit.
func (t *text) exact() {
	i, j := 0, 0
	for _, e := range t.places {
		if e.Old.From < i || e.Now.From < j || string(t.old[i:e.Old.From]) != string(t.now[j:e.Now.From]) {
			t.replace(t.words.add(wholePattern))
			return
		}
		i, j = e.Old.To, e.Now.To
	}
	if string(t.old[i:]) != string(t.now[j:]) {
		t.replace(t.words.add(wholePattern))
	}
}

// sorted returns the cases by name.
func (a *Analysis) sorted() []*seen {
	slices.SortFunc(a.cases, func(x, y *seen) int { return strings.Compare(x.name, y.name) })
	return a.cases
}
