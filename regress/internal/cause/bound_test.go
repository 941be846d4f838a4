package cause_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

// readMost is the largest number of causes that is ever shown.
const readMost = 50

// letters returns a number as a word.
func letters(n int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%05d", n))
}

// manyWays returns cases with very many causes, each in several cases. Every case has edits of its
// own sort at a few of the places.
func manyWays(cases, ways, each int, seed int) (all []cause.Case) {
	for i := range cases {
		var old, now strings.Builder
		for n := range each {
			way := (i*each/3 + n*7 + seed) % ways
			a, b := letters(way), letters(way+ways)
			fmt.Fprintf(&old, "line %d\n", n)
			fmt.Fprintf(&now, "line %d\n", n)
			switch way % 5 {
			case 0:
				fmt.Fprintf(&old, "x%s = %s;\n", letters(n), a)
				fmt.Fprintf(&now, "x%s = %s;\n", letters(n), strings.ToUpper(b)) // shares no letter
			case 1:
				fmt.Fprintf(&now, "%s %s %s;\n", a, b, a)
			case 2:
				fmt.Fprintf(&old, "%s(%s);\n", a, b)
			case 3:
				fmt.Fprintf(&old, "print(%s + y);\n", a)
				fmt.Fprintf(&now, "print(%s(%s + y));\n", b, a)
			default:
				fmt.Fprintf(&old, "%s.y = { %s\n", a, a)
				fmt.Fprintf(&now, "%s.y = %d + { %s\n", a, way, a)
			}
		}
		all = append(all, changedCase(fmt.Sprintf("c%03d", i), old.String(), now.String()))
	}
	return all
}

// endings returns cases that each end in a way of their own.
func endings(n int) (all []cause.Case) {
	for i := range n {
		c := cause.Case{Name: fmt.Sprintf("e%05d", i), Now: regress.Ending{Kind: regress.Exited, Code: 1 + i%40}, NowMessages: []byte("error: no " + letters(i))}
		switch i % 4 {
		case 1:
			c.Old, c.Now, c.OldMessages = c.Now, c.Old, c.NowMessages
		case 2:
			c.Old.Code, c.Now.Code = 1+i%200, 2+i/3
		case 3:
			key := outcome.Key{Place: outcome.File, Path: "a." + letters(i)}
			c = cause.Case{Name: c.Name, Parts: []cause.Part{{Key: key, Now: &outcome.Part{Key: key}, NowText: []byte("x")}}}
		}
		all = append(all, c)
	}
	return all
}

// The number of causes is bounded, whatever the cases are. Folded causes list their parts, and
// nothing is lost.
func TestCausesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := manyWays(rapid.IntRange(1, 30).Draw(t, "cases"), rapid.IntRange(1, 300).Draw(t, "ways"), rapid.IntRange(1, 60).Draw(t, "each"), rapid.IntRange(0, 5).Draw(t, "seed"))
		cases = append(cases, endings(rapid.IntRange(0, 150).Draw(t, "endings"))...)
		f := analyseCases(cases...)
		checkBound(t, f, cases)
		slices.Reverse(cases)
		if again := analyseCases(cases...); !reflect.DeepEqual(f, again) {
			t.Fatalf("in another order%s\nwant%s", causeList(again), causeList(f))
		}
	})
}

func checkBound(t interface{ Fatalf(string, ...any) }, f *cause.Found, cases []cause.Case) {
	if len(f.Causes) > readMost {
		t.Fatalf("%d causes%s", len(f.Causes), causeList(f))
	}
	names := map[string]bool{}
	for _, c := range f.Causes {
		if names[c.Name] || c.Name == "" {
			t.Fatalf("%q is the name of two%s", c.Name, causeList(f))
		}
		names[c.Name] = true
		if isFold := strings.HasPrefix(c.Name, "other: ") || strings.HasPrefix(c.Name, "rare: "); isFold != (len(c.Folded) > 1) || isFold && c.Family == "" {
			t.Fatalf("%q of family %q consists of %q", c.Name, c.Family, c.Folded)
		}
	}
	checkReplay(t, f, cases)
	for _, c := range cases {
		m, _ := f.Member(c.Name)
		if shown, all := cause.NewIndex(f.Causes).Explain(c); !all || len(shown) < len(m.Causes) {
			t.Fatalf("%s shows %v alone, %v among others", c.Name, shown, m.Causes)
		}
	}
}

// New failures are folded only with new failures, and the fold counts them.
func TestFoldsKeepTheirKind(t *testing.T) {
	const many = 400
	f := analyseCases(append(endings(many), manyWays(9, 300, 100, 0)...)...)
	of := map[cause.Kind]int{}
	for _, m := range f.Members {
		kinds := map[cause.Kind]bool{}
		for _, c := range m.Causes {
			kinds[f.Causes[c].Kind] = true
		}
		for k := range kinds {
			of[k]++
		}
	}
	for _, k := range []cause.Kind{cause.Failing, cause.Passing, cause.Ended, cause.File} {
		if of[k] != many/4 {
			t.Errorf("%d cases are %s, want %d%s", of[k], k, many/4, causeList(f))
		}
	}
}
