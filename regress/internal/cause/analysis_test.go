package cause_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

// The result does not depend on the order of cases, nor on the number of goroutines that add them.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := drawCases(t)
		cases = append(cases, plantedCases(5, rapid.IntRange(0, 255).Draw(t, "planted"))...)
		want := analyseCases(cases...)
		shuffled := rapid.Permutation(cases).Draw(t, "order")
		a := cause.New()
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				for i := w; i < len(shuffled); i += 3 {
					a.Add(shuffled[i])
				}
			})
		}
		wg.Wait()
		if got := a.Causes(); !reflect.DeepEqual(got, want) {
			t.Fatalf("in another order\n%+v\nwant\n%+v", got, want)
		}
	})
}

// Encode and Decode keep the result.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := drawCases(t)
		f := analyseCases(cases...)
		b, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := cause.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range cases {
			if want, got := cause.NewIndex(f.Causes).Shows(cases[i]), cause.NewIndex(again.Causes).Shows(cases[i]); !slices.Equal(want, got) {
				t.Fatalf("%s shows %v, and %v after Decode", cases[i].Name, want, got)
			}
		}
	})
}

// A case shows a cause whose pattern fits it, even with words that did not occur before. A case
// without the edit does not.
func TestShows(t *testing.T) {
	var cases []cause.Case
	for i := range 12 {
		v := "v" + strings.Repeat("x", i)
		cases = append(cases, changedCase(fmt.Sprint("c", i), "print(a);\nemit("+v+");\n", "print(a);\nemit_to(out, "+v+");\n"))
	}
	f := analyseCases(cases...)
	for _, c := range []struct {
		old, now string
		shows    bool
	}{
		{"x = 1;\nemit(other);\n", "x = 1;\nemit_to(out, other);\n", true},
		{"emit(other);\n", "emit(another);\n", false},
		{"x = 1;\n", "x = 2;\n", false},
	} {
		if got := len(cause.NewIndex(f.Causes).Shows(changedCase("new", c.old, c.now))) > 0; got != c.shows {
			t.Errorf("%q → %q shows %v%s", c.old, c.now, got, causeList(f))
		}
	}
}

// An index gives the same answers at every query, from many goroutines, and for edits that did not
// occur.
func TestIndexIsShared(t *testing.T) {
	f := analyseCases(append(plantedCases(5, 255), changedCase("b", "emit(a);\n", "emit_to(out, a);\n"))...)
	asked := append(plantedCases(7, 255), changedCase("b", "emit(other);\n", "emit(another);\n"), changedCase("b", "emit(c); d;\n", "emit_to(out, c);\n"))
	index := cause.NewIndex(f.Causes)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, c := range asked {
				shown, all := index.Explain(c)
				if want, wantAll := cause.NewIndex(f.Causes).Explain(c); !slices.Equal(shown, want) || all != wantAll {
					t.Errorf("%s shows %v, %v; asked first %v, %v", c.Name, shown, all, want, wantAll)
				}
			}
		})
	}
	wg.Wait()
}

// A pattern of slots alone stands only for the edits that occurred.
func TestSlotsAloneShowNothingNew(t *testing.T) {
	var cases []cause.Case
	for i := range 12 {
		cases = append(cases, changedCase(fmt.Sprint("c", i), "f("+strings.Repeat("y", i+1)+");\n", "f();\n"))
	}
	f := analyseCases(cases...)
	if len(f.Causes) != 1 {
		t.Errorf("removed names are not one cause%s", causeList(f))
	}
	checkReplay(t, f, cases)
	if got := cause.NewIndex(f.Causes).Shows(changedCase("new", "f(unseen);\n", "f();\n")); len(got) > 0 {
		t.Errorf("an edit that was not seen shows %v%s", got, causeList(f))
	}
}

var (
	ok     = regress.Ending{}
	failed = regress.Ending{Kind: regress.Exited, Code: 1}
	segv   = regress.Ending{Kind: regress.Signalled, Code: 11}
	slow   = regress.Ending{Kind: regress.TimedOut}
)

func endedCase(name string, old, now regress.Ending, oldSaid, nowSaid string) cause.Case {
	return cause.Case{Name: name, Old: old, Now: now, OldMessages: []byte(oldSaid), NowMessages: []byte(nowSaid)}
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name  string
		cases []cause.Case
		want  string
		kind  cause.Kind
	}{
		{"undefined", []cause.Case{
			endedCase("a", ok, failed, "", "/tmp/x1.o: in function `main':\na.c:(.text+0x1a): undefined reference to `foo'\n"),
			endedCase("b", ok, failed, "", "/tmp/y2.o: in function `f':\nb.c:(.text+0x2c): undefined reference to `bar_2'\n"),
		}, "fails: undefined reference to STR", cause.Failing},
		{"syntax", []cause.Case{
			endedCase("a", ok, failed, "", "\x1b[1ma.c:12:3: error: expected ';' before '}' token\n"),
			endedCase("b", ok, failed, "", "sub/b.c:7:44: error: expected ';' before '}' token\n"),
		}, "fails: error: expected ';' before '}' token", cause.Failing},
		{"passing", []cause.Case{
			endedCase("a", failed, ok, "x.js:1:2: ERROR: Unexpected \"abc\"\n", ""),
			endedCase("b", failed, ok, "y.js:10:2: ERROR: Unexpected \"de\"\n", ""),
		}, "passes: ERROR: Unexpected STR", cause.Passing},
		{"crash", []cause.Case{endedCase("a", ok, segv, "", "some\n"), endedCase("b", failed, segv, "", "")}, "crash: SIGSEGV", cause.Ended},
		{"slow", []cause.Case{endedCase("a", ok, slow, "", ""), endedCase("b", failed, slow, "", "x")}, "timed-out", cause.Ended},
		{"status", []cause.Case{endedCase("a", failed, regress.Ending{Code: 2}, "", "")}, "exit 1 → exit 2", cause.Ended},
	} {
		f := analyseCases(c.cases...)
		if len(f.Causes) != 1 || f.Causes[0].Name != c.want || f.Causes[0].Kind != c.kind {
			t.Errorf("%s: want %s%s", c.name, c.want, causeList(f))
		}
		checkReplay(t, f, c.cases)
	}
}

func TestFiles(t *testing.T) {
	file := func(path string, form outcome.Form, exec bool) *outcome.Part {
		return &outcome.Part{Key: outcome.Key{Place: outcome.File, Path: path}, Form: form, Exec: exec}
	}
	elf := "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00", 100)
	for _, c := range []struct {
		old, now         *outcome.Part
		oldText, nowText string
		want             string
		kind             cause.Kind
	}{
		{nil, file("a.o", 0, false), "", "x", "new file *.o", cause.File},
		{file("a.map", 0, false), nil, "x", "", "no file *.map", cause.File},
		{nil, file("a.h", outcome.Gone, false), "", "", "source removed *.h", cause.File},
		{file("a.h", outcome.Gone, false), nil, "", "", "source no longer removed *.h", cause.File},
		{nil, file("a.so", outcome.Symlink, false), "", "a", "new link *.so", cause.File},
		{file("a.so", outcome.Symlink, false), nil, "a", "", "no link *.so", cause.File},
		{file("a.sh", 0, false), file("a.sh", 0, true), "x", "x", "executable *.sh", cause.File},
		{file("a", 0, false), file("a", outcome.Symlink, false), "x", "b", "file → link without extension", cause.File},
		{file("a.o", 0, false), file("a.o", 0, false), elf + "a", elf + "bc", "binary ELF, larger, after the header *.o", cause.Binary},
	} {
		key := outcome.Key{Place: outcome.File, Path: "a"}
		one := cause.Case{Name: "a", Parts: []cause.Part{{Key: key, Old: c.old, Now: c.now, OldText: []byte(c.oldText), NowText: []byte(c.nowText)}}}
		for _, p := range []*outcome.Part{c.old, c.now} {
			if p != nil {
				one.Parts[0].Key = p.Key
			}
		}
		if f := analyseCases(one); len(f.Causes) != 1 || f.Causes[0].Name != c.want || f.Causes[0].Kind != c.kind {
			t.Errorf("want %s%s", c.want, causeList(f))
		}
	}
}

// Hostile contents are handled like any others.
func TestHostileTexts(t *testing.T) {
	many := strings.Repeat("word ", 40_000)
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, "a%d b%d\n", i*7919%3000, i)
	}
	for i, c := range [][2]string{
		{"", "a"}, {"a", ""}, {"a\n", "a"}, {"a", "a\n"}, {"\n\n\n", "\n"}, {"a\r\nb\r\n", "a\nb\n"},
		{"\xff\xfe\xfd a\n", "\xff\xfe a\n"}, {"x\x00" + "y\n", "x y\n"}, {many, many + "x"}, {many, strings.ReplaceAll(many, "d ", "D ")},
		{strings.Repeat("(", 5000), strings.Repeat("(", 4999) + ")"}, {strings.Repeat("x;", 9000), strings.Repeat("y;", 8999)},
		{lines.String(), strings.ReplaceAll(lines.String(), "a", "")}, {noiseText(1, 30_000), noiseText(2, 30_000)},
		{strings.Repeat("a b c\n", 900), strings.Repeat("b c a\n", 899)}, {"a\tb", "a b"}, {"%41 $1 #2 ~x\n", "$1 %% #\x7f\n"},
	} {
		cases := []cause.Case{changedCase(fmt.Sprint("hostile", i), c[0], c[1])}
		checkReplay(t, analyseCases(cases...), cases)
	}
}

// A part with too many edits has its causes and their lines, and no edits.
func TestTooManyEdits(t *testing.T) {
	old := strings.Repeat("a b\nc\n", 100_001)
	f := analyseCases(changedCase("a", old, strings.ReplaceAll(old, "b", "d")))
	if len(f.Causes) != 1 || f.Causes[0].Name != `"b" → "d"` || f.Causes[0].Lines != 100_001 || len(f.Members[0].Parts[0].Edits) != 0 {
		t.Errorf("%d edits%s", len(f.Members[0].Parts[0].Edits), causeList(f))
	}
}
