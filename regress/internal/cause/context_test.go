package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// A change of whitespace, a bracket or a comma alone is one cause in the same surroundings, and
// another cause in others.
func TestContexts(t *testing.T) {
	for _, c := range []struct {
		name, old, now string // each with a word, and with lines between them, that no other case has
		want           []string
	}{
		{
			"blank lines", "\"\"\"Says WORD.\"\"\"\nimport WORD\n\n\nclass WORD:\n    x = 1\n", "\"\"\"Says WORD.\"\"\"\n\nimport WORD\n\n\nclass WORD:\n\n    x = 1\n",
			[]string{"blank line + behind STR", "blank line + behind class:"},
		},
		{
			"brackets", "assert (WORD == 1)\nMANYb = (WORD)\nMANYif (WORD):\n", "assert WORD == 1\nMANYb = WORD\nMANYif WORD:\n",
			[]string{"- wrap (_) of = (…)", "- wrap (_) of assert (…)", "- wrap (_) of if (…)"},
		},
		{
			"spaces", "a = \"x {WORD} y\"\nb = WORD**2\nc = 3**WORD\n", "a = \"x { WORD} y\"\nb = WORD ** 2\nc = 3 ** WORD\n",
			[]string{"no space → space beside **", "no space → space in STR"},
		},
		{
			"line breaks", "f(\n    WORD)\nx = (\n    WORD + 1)\n", "f(WORD)\nx = (WORD + 1)\n",
			[]string{"line break → no space in = (…)", "line break → no space in f(…)"},
		},
		{
			"strings", "f(\n    \"\"\"x\n    WORD\"\"\"\n)\ng(\n    \"WORD\"\n)\n", "f(\"\"\"x\n    WORD\"\"\")\ng(\"WORD\")\n",
			[]string{
				"line break → no space in f(…) before STR", "line break → no space in f(…) before long STR",
				"line break → no space in f(…) behind STR", "line break → no space in f(…) behind long STR",
			},
		},
		{
			"operators", "a = WORD->b;\nc = WORD-d;\n", "a = WORD -> b;\nc = WORD - d;\n",
			[]string{"no space → space beside -", "no space → space beside ->"},
		},
		{
			"comments", "/* about\n   WORD *it */\nx = WORD *y;\n", "/* about WORD * it */\nx = WORD * y;\n",
			[]string{"line break → space in TXT", "no space → space beside *"},
		},
		{
			"beside what was replaced", "f(function (WORD) { g(WORD); });\nb = [WORD, 1];\n", "f(WORD => { g(WORD); });\nb = [ WORD, 1 ];\n",
			[]string{`")" → "=>" before "{"`, `- "function ("`, "no space → space beside [", "no space → space beside ]"},
		},
		{
			"breaks in new brackets", "f(WORD); g(2);\nh((1, WORD));\n", "x = (f(WORD),\n     g(2));\nh((1,\n  WORD));\n",
			[]string{
				`";" → "," before "g"`, "+ wrap x = (_)",
				"space → line break in (…) behind ,", "space → line break in = (…) behind ,",
			},
		},
		{
			"padding", "  { f(x); g(WORD, 2); }  \\\n  int y = x;         \\\n", "  { f(x); g(WORD, 2);   \\\n  }                   \\\n  int y = x;          \\\n",
			[]string{`+ "\" before "}"`, "alignment", "alignment behind an edit", `space → line break behind \`},
		},
		{
			"indents", "{\n  f(WORD);\n  g(a\n    + WORD);\n}\nx = a\n  + WORD;\n", "{\n    f(WORD);\n    g(a\n      + WORD);\n}\nx = a\n    + WORD;\n",
			[]string{"indent +"},
		},
		{
			"one change in many places", "f(WORD);\ng(1, WORD[2]);\n{\n    h(x, WORD(3));\n}\n", "f(WORD,);\ng(1, WORD[2],);\n{\n    h(x, WORD(3),);\n}\n",
			[]string{`+ "," before the end of (…)`},
		},
	} {
		var cases []cause.Case
		for i := range 12 {
			word := "v" + string(rune('a'+i))
			fill := strings.NewReplacer("WORD", word, "MANY", strings.Repeat("pad(1, 2, 3)\n", 4+i)).Replace
			cases = append(cases, changedCase(fmt.Sprint("c", word), fill(c.old), fill(c.now)))
		}
		f := analyseCases(cases...)
		var got []string
		for _, c := range f.Causes {
			got = append(got, c.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: want %q%s", c.name, c.want, causeList(f))
		}
		checkReplay(t, f, cases)
	}
}

// Causes with the same change at different places are a family. If causes are too many, the rare
// ones of the largest family are folded, and no more than necessary.
func TestContextsAreFamilies(t *testing.T) {
	var cases []cause.Case
	add := func(old, now string) { cases = append(cases, changedCase(fmt.Sprintf("c%02d", len(cases)), old, now)) }
	for i := range 30 {
		word := strings.Repeat(string(rune('a'+i%26)), 2+i/26)
		add("x = "+word+";\n", "x = "+strings.ToUpper(word)+";\n")
	}
	add("f(\n  x)\n", "f(x)\n")
	add("x = (\n  x)\n", "x = (x)\n")
	f := analyseCases(cases...)
	families := map[string]string{}
	for _, c := range f.Causes {
		families[c.Name] = c.Family
	}
	for _, name := range []string{"line break → no space in f(…)", "line break → no space in = (…)"} {
		if families[name] != "line break → no space" {
			t.Errorf("%s is of the family %q%s", name, families[name], causeList(f))
		}
	}
	if len(f.Causes) != 3 || f.Causes[0].Kind != cause.Other || len(f.Causes[0].Folded) != 30 {
		t.Errorf("%d causes%s", len(f.Causes), causeList(f))
	}
	checkReplay(t, f, cases)
}

// The name of a change of whitespace says what the whitespace became.
func TestOtherSpace(t *testing.T) {
	for _, c := range [][3]string{
		{"int a\n", "int\va\n", "space → other space"}, {"int\ra\n", "int a\n", "other space → space"},
		{"a;\f\nb;\n", "a;\v\nb;\n", "trailing space"}, {"a;\nb;\n", "a;\v\nb;\n", "trailing space +"},
	} {
		if f := analyseCases(changedCase("a", c[0], c[1])); len(f.Causes) != 1 || f.Causes[0].Name != c[2] {
			t.Errorf("%q → %q: want %s%s", c[0], c[1], c[2], causeList(f))
		}
	}
}
