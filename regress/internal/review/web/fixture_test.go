package web_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"muster/regress/internal/cause"
	"muster/regress/internal/review"
)

// A store is what a review writes into: a run's decisions, and a golden.
type store struct {
	items []review.Item
	cases []review.Case
	parts map[string][]review.Part

	mu        sync.Mutex
	decisions map[string]review.State
	golden    map[string]bool
	notes     []string
	refuse    string // why no case goes into the golden
	writes    int
	writing   func() // called during a write; nil = nothing
}

func (s *store) desk() *review.Desk {
	d := &review.Desk{
		Review: review.New(s.items, s.cases, s.decisions),
		Run:    "20260102-030405-ab12", Command: "check", Golden: "muster.golden",
		Difference: func(_ context.Context, name string) (review.Difference, error) {
			return review.Difference{Where: "ran on w1", Parts: s.parts[name]}, nil
		},
		Write: s.write,
		Look: func(context.Context) (review.Now, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.now(), nil
		},
	}
	d.Update(s.now())
	return d
}

// now describes the store. The caller holds mu once the review runs.
func (s *store) now() review.Now {
	golden := maps.Clone(s.golden)
	return review.Now{
		Written: maps.Clone(s.decisions), Decisions: maps.Clone(s.decisions),
		Promoted: func(name string) bool { return golden[name] }, Notes: s.notes,
	}
}

func (s *store) write(_ context.Context, c review.Changes) (review.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing != nil {
		s.writing()
	}
	if !maps.Equal(c.Base, s.decisions) {
		return review.Result{Stale: true, Now: s.now()}, nil
	}
	s.decisions = c.Decide(s.decisions)
	s.writes++
	r := review.Result{Decided: len(c.Decisions), Refused: s.refuse}
	if s.refuse == "" {
		r.Accepted = len(c.Promote)
		for _, name := range c.Promote {
			s.golden[name] = true
		}
	}
	r.Now = s.now()
	return r, nil
}

// decided is what is written.
func (s *store) decided() map[string]review.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.decisions)
}

func (s *store) promotedCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.golden)
}

// An edit is what one cause replaces.
type edit struct{ name, family, was, is string }

// newStore has count cases; case i shows the causes that shows says, as indexes of edits.
func newStore(edits []edit, count int, shows func(i int) []int) *store {
	s := &store{parts: map[string][]review.Part{}, decisions: map[string]review.State{}, golden: map[string]bool{}}
	for i, e := range edits {
		s.items = append(s.items, review.Item{ID: fmt.Sprintf("G%d", i+1), Name: e.name, Kind: "edit", Family: e.family})
	}
	for i := range count {
		name := fmt.Sprintf("src/pkg%02d/file_%04d.c", i%17, i)
		in := shows(i)
		s.cases = append(s.cases, review.Case{Name: name, Printed: name, Verdict: "changed", Items: in})
		s.parts[name] = []review.Part{part(edits, in, i)}
		for _, c := range in {
			it := &s.items[c]
			it.Members = append(it.Members, i)
			it.Cases++
			it.Lines += 2
			it.Example, it.Smallest = s.cases[it.Members[0]].Printed, name
			if len(in) == 1 {
				it.Sole++
			}
		}
	}
	return s
}

// part is an output with one line for each of the causes.
func part(edits []edit, in []int, seed int) review.Part {
	p := review.Part{Name: "stdout", Words: "bytes differ"}
	var old, now strings.Builder
	same := func(format string, args ...any) {
		fmt.Fprintf(&old, format, args...)
		fmt.Fprintf(&now, format, args...)
	}
	same("#include <stdio.h>\n\nint main(void)\n{\n")
	for line := range 40 {
		if line%12 == 5 && line/12 < len(in) {
			e := edits[in[line/12]]
			same("\tlong v%d = ", line)
			lit := cause.LiteralEdit{Old: cause.Span{From: old.Len()}, Now: cause.Span{From: now.Len()}}
			old.WriteString(e.was)
			now.WriteString(e.is)
			lit.Old.To, lit.Now.To = old.Len(), now.Len()
			p.Edits = append(p.Edits, cause.Attributed{LiteralEdit: lit, Cause: in[line/12]})
			same(";\n")
			continue
		}
		same("\tstep(%d, %d); /* <%c> & \"quoted\" */\n", line, seed, 'a'+rune(line%26))
	}
	same("\treturn 0;\n}\n")
	p.Old, p.Now = []byte(old.String()), []byte(now.String())
	return p
}

// few is a review of five causes in 60 cases.
func few() *store {
	return newStore([]edit{
		{`"ll" → "LL"`, "suffixes", "12ll", "12LL"},
		{`0x$1 → $1`, "numbers", "0xff", "255"},
		{`"( $1 )" → "$1"`, "brackets", "( total )", "total"},
		{`space → tab`, "white space", "a  b", "a\tb"},
		{`$1 + 0 → $1`, "", "count + 0", "count"},
	}, 60, func(i int) []int {
		switch {
		case i < 40:
			return []int{0}
		case i < 50:
			return []int{0, 1}
		case i < 56:
			return []int{2, 3}
		}
		return []int{4}
	})
}

// many is one of 3,000 differing cases in 3,000 causes.
func many() *store {
	edits := []edit{{`"ll" → "LL"`, "suffixes", "12ll", "12LL"}}
	for i := 1; i < 3000; i++ {
		edits = append(edits, edit{fmt.Sprintf(`"name_%d" → "renamed_%d"`, i, i), "names", fmt.Sprintf("name_%d", i), fmt.Sprintf("renamed_%d", i)})
	}
	return newStore(edits, 3000, func(i int) []int {
		if i == 0 {
			return []int{0}
		}
		return []int{0, i}
	})
}
