package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

// Openings on every line that are never closed are searched once. Each of these inputs took a
// minute or more.
func TestUnclosed(t *testing.T) {
	const many = 100_000
	for _, one := range []string{"/* ", "/*\n", `\"`, `"\`, `\'x`, "\\`"} {
		cases := []cause.Case{changedCase("a", "x\n", "x\n"+strings.Repeat(one, many)+"\n")}
		checkReplay(t, analyseCases(cases...), cases)
	}
}

// The same for comments that an edit may be in.
func TestUnclosedBeforeEdits(t *testing.T) {
	const many = 50_000
	for _, line := range []string{"/* a x;\n", "/* \"\\ x;\n", "/*/ \"/* x;\n"} {
		old := strings.Repeat(line, many)
		cases := []cause.Case{changedCase("a", old, strings.ReplaceAll(old, " x", "  x"))}
		checkReplay(t, analyseCases(cases...), cases)
	}
}

// Each of 200,000 new members of an object has a key of its own. They are not compared with each other; it once
// took minutes.
func TestManyNewMembers(t *testing.T) {
	var now strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&now, `"key%d":%d,`, i, i)
	}
	cases := []cause.Case{changedCase("a", `{"a":1}`, "{"+now.String()+`"a":1}`)}
	checkReplay(t, analyseCases(cases...), cases)
}

// A string after an escaped quote is still a string, and so is one on the next line.
func TestClosedBehindUnclosed(t *testing.T) {
	for _, c := range []struct{ added, name string }{
		{`\" 'a b'`, `+ '\" STR'`},
		{`\" "a b"`, `+ '\STRa b"'`},
		{"\\' \n\"a b\"", `+ "\' STR"`},
		{"` 'a b' /* x", "+ \"` STR /* x\""},
	} {
		f := analyseCases(changedCase("a", "x\n", "x\n"+c.added+"\n"))
		if len(f.Causes) != 1 || f.Causes[0].Name != c.name {
			t.Errorf("%q is called %q, want %q", c.added, f.Causes[0].Name, c.name)
		}
	}
}

// If twenty thousand cases fail in twenty thousand ways, the result has a few causes and one fold
// of the rest, which lists its parts.
func TestAsManyCausesAsCases(t *testing.T) {
	if testing.Short() {
		t.Skip("20,000 cases")
	}
	const many = 20_000
	a := cause.New()
	for i := range many {
		a.Add(cause.Case{
			Name: fmt.Sprintf("c%05d", i), Now: regress.Ending{Kind: regress.Exited, Code: 1},
			NowMessages: []byte("error: no " + letters(i)),
		})
	}
	f := a.Causes()
	rest := f.Causes[0]
	if len(f.Causes) != readMost || rest.Name != "other: exit 1" || rest.Kind != cause.Failing || rest.Cases != many-readMost+1 {
		t.Fatalf("%d causes%s", len(f.Causes), causeList(f))
	}
	if rest.FoldedCount != rest.Cases || len(rest.Folded) != 200 {
		t.Errorf("%d of %d names of what was folded", len(rest.Folded), rest.FoldedCount)
	}
	for _, m := range f.Members {
		if c := f.Causes[m.Causes[0]]; c.Cases == 1 && (c.Example != m.Name || c.Smallest != m.Name) {
			t.Fatalf("%s has the example %s and the smallest %s", m.Name, c.Example, c.Smallest)
		}
	}
}

// A file that loses its executable bit and also changes its content has two causes. Accepting one
// does not accept the other.
func TestExecutableBitHidesNoContents(t *testing.T) {
	key := outcome.Key{Place: outcome.File, Path: "a.sh"}
	file := func(old, now string) cause.Case {
		return cause.Case{Name: "a", Parts: []cause.Part{{
			Key: key, Old: &outcome.Part{Key: key, Exec: true}, Now: &outcome.Part{Key: key}, OldText: []byte(old), NowText: []byte(now),
		}}}
	}
	for _, c := range []struct {
		old, now string
		names    []string
	}{
		{"x\n", "x\n", []string{"no longer executable *.sh"}},
		{"x ll\n", "x LL\n", []string{"no longer executable *.sh", `"ll" → "LL"`}},
		{"\x00a", "\x00a", []string{"no longer executable *.sh"}},
		{"\x00a", "\x00ab", []string{"no longer executable *.sh", "binary, larger, in the header *.sh"}},
	} {
		one := file(c.old, c.now)
		f := analyseCases(one)
		names := map[string]bool{}
		for _, x := range f.Causes {
			names[x.Name] = true
		}
		for _, n := range c.names {
			if !names[n] || len(names) != len(c.names) {
				t.Errorf("%q → %q: causes %v, want %q", c.old, c.now, names, c.names)
			}
		}
		if shown := cause.NewIndex(f.Causes).Shows(one); len(shown) != len(c.names) {
			t.Errorf("%q → %q: shows %v alone", c.old, c.now, shown)
		}
	}
}

// A name shows the difference, even of invalid bytes and in the middle of long texts.
func TestNamesOfWhatIsAlike(t *testing.T) {
	long := strings.Repeat("abcdefghij", 30)
	for _, c := range []struct{ old, now, name string }{
		{"\xff", "\xfe", `"‹FF›" → "‹FE›"`},
		{"a long line ( \x1b ) with one", "a long line ( \x07 ) with one", `"‹1B›" → "‹07›"`},
		{long + "x" + long, long + "y" + long, `"…fghijabcdefghijx` + long[:44] + `…" → "…fghijabcdefghijy` + long[:44] + `…"`},
	} {
		f := analyseCases(changedCase("a", "x\n"+c.old+"\n", "x\n"+c.now+"\n"))
		if len(f.Causes) != 1 || f.Causes[0].Name != c.name {
			t.Errorf("%q → %q is called %s, want %s", c.old, c.now, f.Causes[0].Name, c.name)
		}
	}
}
