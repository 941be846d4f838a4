package cause_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// Adjacent changes are separated, each with its own cause.
func TestChangesThatTouch(t *testing.T) {
	for _, c := range []struct {
		name, old, now string // the verb stands for a word that no other case has
		want           []string
	}{
		{
			"moved beside an insertion",
			"#include <a.h>\n#include \"c\"\n\nstatic state all;\nstatic int %[1]s;\nstatic text x;\n\nint main() {\n",
			"#include <a.h>\n#include <b.h>\n#include \"c\"\n\nstatic int %[1]s;\nstatic text x;\nstatic state all;\n\nint main() {\n",
			[]string{`+ "#include <b.h>"`, `MOVE "static state all;"`},
		},
		{
			"a bracket around what changed",
			"a = 1ll;\nprint(f(12ll));\nprint(%[1]s);\nprint(22ll);\n",
			"a = 1LL;\nprint((double)(f(12LL)));\nprint((double)(%[1]s));\nprint((double)(22LL));\n",
			[]string{`"ll" → "LL"`, "+ wrap (double)(_)"},
		},
		{
			"a line gone before a word that changed",
			"a();\n/* text of %[1]s */\nprint_str(\"x\");\nb();\nprint_str(%[1]s);\n/* %[1]s */\nc();\n",
			"a();\nputs(\"x\");\nb();\nputs(%[1]s);\nc();\n",
			[]string{`"print_str" → "puts"`, `- "/* TXT */"`},
		},
	} {
		var cases []cause.Case
		for i := range 12 {
			word := "v" + string(rune('a'+i))
			cases = append(cases, changedCase(fmt.Sprint("c", word), fmt.Sprintf(c.old, word), fmt.Sprintf(c.now, word)))
		}
		f := analyseCases(cases...)
		var got []string
		for _, c := range f.Causes {
			got = append(got, c.Name)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: want %q%s", c.name, c.want, causeList(f))
		}
		checkReplay(t, f, cases)
	}
}

// A bracket around a bracketed expression is one change, even in a single case.
func TestBracketsAroundBrackets(t *testing.T) {
	cases := []cause.Case{changedCase("a", "print((x - 1));\nprint(f(y));\nprint(z);\n", "print((double)((x - 1)));\nprint((double)(f(y)));\nprint((double)(z));\n")}
	f := analyseCases(cases...)
	if len(f.Causes) != 1 || f.Causes[0].Name != "+ wrap (double)(_)" {
		t.Errorf("%d causes%s", len(f.Causes), causeList(f))
	}
	checkReplay(t, f, cases)
}

// Removing a line once, twice and three times in a row is one cause, even though enough cases of
// the second would make it one of its own.
func TestAgainAndAgain(t *testing.T) {
	var cases []cause.Case
	for i := range 40 {
		old := fmt.Sprintf("a%d();\n/* one %d */\nb();\n", i, i)
		if i%6 == 0 {
			old += strings.Repeat("/* again */\n", 2) + "c();\n"
		} else if i == 7 {
			old += strings.Repeat("/* again */\n", 3) + "c();\n"
		}
		now := old
		for strings.Contains(now, "/*") {
			from, to := strings.Index(now, "/*"), strings.Index(now, "*/")+len("*/\n")
			now = now[:from] + now[to:]
		}
		cases = append(cases, changedCase(fmt.Sprintf("c%02d", i), old, now))
	}
	f := analyseCases(cases...)
	if len(f.Causes) != 1 {
		t.Errorf("%d causes%s", len(f.Causes), causeList(f))
	}
	checkReplay(t, f, cases)
}

// Nearness of edits in copies of one text is no evidence that they are one change, in crowds or in
// few cases.
func TestCopiesAreNotBundled(t *testing.T) {
	crowd := [...]string{"a = one b c two d e three f g four h i five j k;\n", "a = 1 b c 2 d e 3 f g 4 h i 5 j k;\n"}
	pair := [...]string{"a = one(b);\nc = two(d);\n", "a = 1(b);\nc = 2(d);\n"}
	for _, c := range []struct {
		name     string
		copied   [2]string
		cases    int
		isVaried bool
		want     int
	}{
		{"a crowd", crowd, 12, true, 5},
		{"few cases", pair, 5, false, 2},
		{"few cases, beside different things", pair, 5, true, 1},
		{"many cases", pair, 12, false, 1},
	} {
		var cases []cause.Case
		for i := range c.cases {
			name := "a"
			if c.isVaried {
				name = "v" + string(rune('a'+i))
			}
			fill := func(text string) string {
				return strings.Repeat("pad();\n", 50+2*i) + strings.ReplaceAll(text, "= ", "= "+name+" ")
			}
			cases = append(cases, changedCase(fmt.Sprint("c", i), fill(c.copied[0]), fill(c.copied[1])))
		}
		f := analyseCases(cases...)
		if len(f.Causes) != c.want {
			t.Errorf("%s: %d causes, want %d%s", c.name, len(f.Causes), c.want, causeList(f))
		}
		checkReplay(t, f, cases)
	}
}

// Causes that nearly the same cases show are a family, and stay causes of their own.
func TestSameCasesAreFamilies(t *testing.T) {
	var cases []cause.Case
	for i := range 26 {
		name := "v" + string(rune('a'+i))
		old := name + ";\neach;\npad();\npad();\n" + name + ";\npad();\none;\npad();\npad();\n" + name + ";\ntwo;\n"
		now := strings.Replace(old, "each", "e", 1)
		if i >= 4 { // in 22 of 26
			now = strings.Replace(now, "one", "1", 1)
		}
		if i >= 6 { // in 20 of the 22
			now = strings.Replace(now, "two", "2", 1)
		}
		if i < 10 {
			old, now = old+"three;\n", now+"3;\n"
		}
		if i == 14 {
			old, now = old+"pad();\n"+name+";\nfour;\npad();\nfive\n", now+"pad();\n"+name+";\n4;\npad();\n5\n"
		}
		cases = append(cases, changedCase("c/"+name, old, now))
	}
	f := analyseCases(cases...)
	got := map[string]string{}
	for _, c := range f.Causes {
		got[c.Name] = c.Family
	}
	want := map[string]string{
		`"each" → "e"`: "replaces before ;", `"one" → "1"`: `with "one" → "1"`, `"two" → "2"`: `with "one" → "1"`, `"three" → "3"`: "replaces before ;",
		`"four" → "4"`: "only in c/vo", `"five" → "5"`: "only in c/vo",
	}
	if !maps.Equal(got, want) {
		t.Errorf("families %q%s", got, causeList(f))
	}
}

// Families of different cases have different names, also where the shortened names of causes are alike.
func TestFamiliesHaveNamesOfTheirOwn(t *testing.T) {
	var cases []cause.Case
	for i := range 20 {
		name, which, then := "v"+string(rune('a'+i)), "ONE", "beta"
		if i >= 10 {
			which, then = "TWO", "gamma"
		}
		old := name + ";\n" + strings.Repeat("abcdefgh", 20) + which + strings.Repeat("zyxwvuts", 20) + ";\n" + strings.Repeat("pad();\n", 9) + name + ";\n" + then + ";\n"
		_, rest, _ := strings.Cut(old, "zyxwvuts;\n")
		now := name + ";\n1;\n" + rest
		if i%10 > 0 { // the long one leads
			now = strings.Replace(now, then, then[:1], 1)
		}
		cases = append(cases, changedCase("c/"+name, old, now))
	}
	f := analyseCases(cases...)
	got := map[string][]string{}
	for _, c := range f.Causes {
		got[c.Family] = append(got[c.Family], c.Name)
	}
	if len(f.Causes) != 4 || len(got) != 2 {
		t.Errorf("%q%s", got, causeList(f))
	}
}

// Brackets around unchanged lines are one change, although only the first and the last line differ.
func TestBracketsAroundLines(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{"x = a\n  + b\n  + c\ny\n", "x = (a\n  + b\n  + c)\ny\n", "+ wrap (_) of = (…)"},
		{"if (a\n  and b[0]\n  and c):\n", "if a\n  and b[0]\n  and c:\n", "- wrap (_) of if (…)"},
	} {
		cases := []cause.Case{changedCase("a", c.old, c.now)}
		f := analyseCases(cases...)
		if len(f.Causes) != 1 || f.Causes[0].Name != c.want {
			t.Errorf("want %s%s", c.want, causeList(f))
		}
		checkReplay(t, f, cases)
	}
}
