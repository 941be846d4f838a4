package cause

import (
	"slices"
	"strings"
	"sync"

	"muster/regress/internal/outcome"
)

// editsMax is the number of edits of one part whose places are kept. If a part has more, only their
// causes are kept.
const editsMax = 100_000

// An Analysis collects the differences of cases and finds their causes.
type Analysis struct {
	scratch scratches
	mu      sync.Mutex
	words   *words
	cases   []*caseRecord
}

// caseRecord holds what the analysis keeps of a case.
type caseRecord struct {
	name           string
	size           int64
	keys           []int32 // patterns of differences that are not edits
	parts          []partRecord
	changed, total int64 // bytes of its texts
}

type partRecord struct {
	key     outcome.Key
	places  []place
	cuts    []int32
	tooMany bool // places has each pattern once
}

// New returns an analysis without cases.
func New() *Analysis { return &Analysis{words: newWords()} }

// Add adds a case. Several goroutines may call it at once, and each compares its own case. The
// order of the calls does not matter.
func (a *Analysis) Add(c Case) {
	s, w := a.compareCase(c)
	global := make([]int32, len(w.list))
	a.mu.Lock()
	for i, word := range w.list {
		global[i] = a.words.add(word)
	}
	a.cases = append(a.cases, s)
	a.mu.Unlock()
	s.renumber(global)
}

func (s *caseRecord) renumber(global []int32) {
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

// compareCase compares the two sides of a case. The record that it returns refers to patterns by
// their numbers in the returned words.
func (a *Analysis) compareCase(c Case) (*caseRecord, *words) {
	s, w := &caseRecord{name: c.Name, size: c.Size}, newWords()
	scratch := a.scratch.get()
	defer a.scratch.pool.Put(scratch)
	ended, broken := endingPattern(c)
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
			s.parts = append(s.parts, partRecord{key: p.Key})
			continue
		}
		t := &text{old: p.OldText, now: p.NowText, words: w, scratch: scratch}
		t.around[0].text, t.around[1].text = t.old, t.now
		scratch.work = workFor(p.OldText, p.NowText)
		if broken {
			t.replaceAll(w.add(ended))
		} else {
			t.compare()
			t.matchMoves()
			t.matchBrackets()
			if t.extents == nil {
				t.verifyExact()
			}
		}
		s.addText(t, p.Key)
	}
	if len(s.keys) == 0 && !slices.ContainsFunc(s.parts, func(p partRecord) bool { return len(p.places) > 0 }) {
		s.keys = append(s.keys, w.add(sortBinary.key("differs")))
	}
	return s, w
}

// addText adds the edits of a text.
func (s *caseRecord) addText(t *text, key outcome.Key) {
	p := partRecord{key: key, places: slices.Clip(t.places), cuts: slices.Clip(t.cuts)}
	if t.extents != nil {
		known := map[int32]bool{}
		p.tooMany, p.cuts = true, nil
		p.places = slices.DeleteFunc(p.places, func(q place) bool {
			again := known[q.pattern]
			known[q.pattern] = true
			return again
		})
		p.places = slices.Clone(p.places)
		for i := range p.places {
			p.places[i].cut, p.places[i].lines = -1, t.extents[p.places[i].pattern].lines
		}
	}
	s.changed += t.changed
	s.total += int64(max(len(t.old), len(t.now)))
	s.parts = append(s.parts, p)
}

// replaceAll makes one edit of everything that differs.
func (t *text) replaceAll(pattern int32) {
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

// verifyExact checks that nothing differs outside the edits. If something does, because two
// contents had the same key, it replaces the edits by one.
func (t *text) verifyExact() {
	i, j := 0, 0
	for _, e := range t.places {
		if e.Old.From < i || e.Now.From < j || string(t.old[i:e.Old.From]) != string(t.now[j:e.Now.From]) {
			t.replaceAll(t.words.add(wholePattern))
			return
		}
		i, j = e.Old.To, e.Now.To
	}
	if string(t.old[i:]) != string(t.now[j:]) {
		t.replaceAll(t.words.add(wholePattern))
	}
}

// sortedCases returns the cases by name.
func (a *Analysis) sortedCases() []*caseRecord {
	slices.SortFunc(a.cases, func(x, y *caseRecord) int { return strings.Compare(x.name, y.name) })
	return a.cases
}
