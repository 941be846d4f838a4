package cause

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An Analysis collects the differences of cases, and finds their causes.
type Analysis struct {
	mu    sync.Mutex
	cases []seen
}

// seen is what is kept of a case.
type seen struct {
	name  string
	size  int64
	parts []PartEdits // Cause is an index into keys
	keys  []key
}

type key struct {
	kind    Kind
	pattern string
	lines   int
}

// New returns an analysis of no cases.
func New() *Analysis { return &Analysis{} }

// Add takes a case in. It may be called by several goroutines; their order does not
// matter.
func (a *Analysis) Add(c Case) {
	s := look(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cases = append(a.cases, s)
}

func look(c Case) seen {
	s := seen{name: c.Name, size: c.Size}
	if c.Old != c.Now {
		s.keys = append(s.keys, key{kind: Ended, pattern: fmt.Sprintf("%s → %s", c.Old, c.Now)})
		return s
	}
	for _, p := range c.Parts {
		e := PartEdits{Key: p.Key}
		for _, l := range edits(p.OldText, p.NowText) {
			was, is := p.OldText[l.Old.From:l.Old.To], p.NowText[l.Now.From:l.Now.To]
			e.Edits = append(e.Edits, Attributed{l, len(s.keys)})
			s.keys = append(s.keys, key{Edit, strconv.Quote(string(was)) + " → " + strconv.Quote(string(is)), bytes.Count(is, []byte("\n")) + 1})
		}
		s.parts = append(s.parts, e)
	}
	if len(s.keys) == 0 {
		s.keys = append(s.keys, key{kind: Binary, pattern: "other"})
	}
	return s
}

// edits finds what to replace.
func edits(old, now []byte) []LiteralEdit {
	if bytes.Equal(old, now) {
		return nil
	}
	from := 0
	for from < len(old) && from < len(now) && old[from] == now[from] {
		from++
	}
	a, b := len(old), len(now)
	for a > from && b > from && old[a-1] == now[b-1] {
		a, b = a-1, b-1
	}
	return []LiteralEdit{{Span{from, a}, Span{from, b}}}
}

// Causes returns what was found. No more cases may be added.
func (a *Analysis) Causes() *Found {
	slices.SortFunc(a.cases, func(x, y seen) int { return strings.Compare(x.name, y.name) })
	f, at, smallest := &Found{}, map[string]int{}, []int64{}
	for _, s := range a.cases {
		m, index := Member{Name: s.name, Parts: s.parts}, make([]int, len(s.keys))
		for i, k := range s.keys {
			n, known := at[k.pattern]
			if !known {
				n = len(f.Causes)
				at[k.pattern] = n
				sum := sha256.Sum256([]byte(k.pattern))
				f.Causes = append(f.Causes, Cause{
					Signature: hex.EncodeToString(sum[:8]), Name: k.pattern, Kind: k.kind,
					Example: s.name, Smallest: s.name, Patterns: []string{k.pattern},
				})
				smallest = append(smallest, s.size)
			}
			index[i] = n
			f.Causes[n].Lines += k.lines
			if !slices.Contains(m.Causes, n) {
				m.Causes = append(m.Causes, n)
				f.Causes[n].Cases++
				if s.size < smallest[n] {
					smallest[n], f.Causes[n].Smallest = s.size, s.name
				}
			}
		}
		if len(m.Causes) == 1 {
			f.Causes[m.Causes[0]].Sole++
		}
		for _, p := range m.Parts {
			for i := range p.Edits {
				p.Edits[i].Cause = index[p.Edits[i].Cause]
			}
		}
		f.Members = append(f.Members, m)
	}
	f.number()
	return f
}

// number brings the causes into their order.
func (f *Found) number() {
	order := make([]int, len(f.Causes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		a, b := &f.Causes[x], &f.Causes[y]
		return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Name, b.Name))
	})
	causes, place := make([]Cause, len(order)), make([]int, len(order))
	for i, old := range order {
		causes[i], place[old] = f.Causes[old], i
		causes[i].ID = "G" + strconv.Itoa(i+1)
	}
	f.Causes = causes
	for m := range f.Members {
		for i := range f.Members[m].Causes {
			f.Members[m].Causes[i] = place[f.Members[m].Causes[i]]
		}
		slices.Sort(f.Members[m].Causes)
		for _, p := range f.Members[m].Parts {
			for i := range p.Edits {
				p.Edits[i].Cause = place[p.Edits[i].Cause]
			}
		}
	}
}

// Shows returns which of the causes a single case shows, as indexes in ascending order.
func Shows(causes []Cause, c Case) (shown []int) {
	for _, k := range look(c).keys {
		for i := range causes {
			if slices.Contains(causes[i].Patterns, k.pattern) && !slices.Contains(shown, i) {
				shown = append(shown, i)
			}
		}
	}
	slices.Sort(shown)
	return shown
}
