package normalize_test

import (
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

func TestApply(t *testing.T) {
	stdout := outcome.Key{Place: outcome.Stdout}
	file := outcome.Key{Place: outcome.File, Path: "a/b.c"}
	for _, c := range []struct {
		rules []string
		key   outcome.Key
		in    string
		want  string
	}{
		{[]string{`s/[0-9]+ms/N ms/`}, file, "took 12ms and 3ms", "took N ms and N ms"},
		{[]string{`stdout:s/a/b/`}, stdout, "aa", "bb"},
		{[]string{`stdout:s/a/b/`}, file, "aa", "aa"},
		{[]string{`*.c:s|/tmp/(\w+)|TMP-\1|g`}, file, "in /tmp/x1", "in TMP-x1"},
		{[]string{`a/**:s/x/$0$0/`}, file, "x", "xx"},
		{[]string{`s/a\/b/c\/d/`}, file, "a/b", "c/d"},
		{[]string{`s/a/b/`, `s/b/c/`}, file, "ab", "cc"},
		{[]string{`s/(?m)^#.*\n//`}, file, "#x\ny\n", "y\n"},
		{[]string{`s/([0-9]+)ms/$1v/`}, file, "12ms", "12v"},
		{[]string{`s/(a)(b)/$2_$1/`}, file, "ab", "b_a"},
		{[]string{`s/(a)(b)/${2}1\10/`}, file, "ab", "b1a0"},
		{[]string{`s/(?P<n>a)/<$n><${n}>$n./`}, file, "a", "<a><a>a."},
		{[]string{`s/a/$$1 \$1 $ $. \$$/`}, file, "a", "$1 $1 $ $. $$"},
		{[]string{`s/a/\n\t\\\q\/é/`}, file, "a", "\n\t\\q/é"},

		// ^ and $ match at lines.
		{[]string{`s/^[0-9]+ /N /`}, file, "1 a\n2 b\n", "N a\nN b\n"},
		{[]string{`s/[0-9]+ ms$/N ms/`}, file, "1 ms\n2 ms a\n3 ms", "N ms\n2 ms a\nN ms"},
		{[]string{`s/[0-9]+ ms\r?$/N ms/`}, file, "1 ms\r\n2 ms\n", "N ms\nN ms\n"},
		{[]string{`s/\Aa|c\z|(?-m:^b$)/-/`}, file, "a\na\nb\nc\nc", "-\na\nb\nc\n-"},
	} {
		rules, err := normalize.Parse(c.rules)
		if err != nil {
			t.Errorf("%q: %v", c.rules, err)
			continue
		}
		if got := string(rules.Apply(c.key, []byte(c.in))); got != c.want {
			t.Errorf("%q on %q: %q, want %q", c.rules, c.in, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []string{"", "s", "s/a/b", "s/(/b/", "stdout:", "x:y", "s/a/b/i", ":s/a/b/", "[:s/a/b/"} {
		if _, err := normalize.Parse([]string{bad}); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

// The streams and files of their names are told apart.
func TestPlaces(t *testing.T) {
	keys := []outcome.Key{
		{Place: outcome.Stdout}, {Place: outcome.Stderr}, {Place: outcome.File, Path: "stdout"},
		{Place: outcome.File, Path: "stderr"}, {Place: outcome.File, Path: "a/stdout"}, {Place: outcome.File, Path: "b.c"},
		{Place: outcome.File, Path: "a/b.c"},
	}
	for pattern, want := range map[string]string{
		"stdout:":      "1......",
		"stderr:":      ".1.....",
		"./stdout:":    "..1....",
		"a/stdout:":    "....1..",
		"**/stdout:":   "..1.1..",
		"std*:":        "11111..",
		"./std*:":      "..11...",
		"./**/stdout:": "..1.1..",
		"./**:":        "..11111",
		"*.c:":         ".....11",
		"*:":           "1111111",
		"./*.c:":       ".....1.",
		"":             "1111111",
	} {
		rules, err := normalize.Parse([]string{pattern + "s/x/1/"})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, k := range keys {
			in := "."
			if rules.Applies(k) {
				in = "x"
			}
			got += string(rules.Apply(k, []byte(in)))
		}
		if got != want {
			t.Errorf("%q hits %s, want %s", pattern, got, want)
		}
	}
}

// What names no group of RE would be replaced by nothing.
func TestParseKnowsTheGroups(t *testing.T) {
	for text, says := range map[string]string{
		`s/(a)(b)/$7/`:    `uses group 7, and RE has 2`,
		`s/(a)/$10/`:      `uses group 10, and RE has 1`,
		`s/(a)/${01}/`:    `uses group 01, and RE has 1`,
		`s/(a)/\2/`:       `uses group 2, and RE has 1`,
		`s/(a)/$name/`:    `uses a group named "name"`,
		`s/(a)/${1v}/`:    `uses a group named "1v"`,
		`s/(?P<n>a)/$nx/`: `uses a group named "nx"`,
		`s/a/${/`:         `does not begin a ${GROUP}`,
		`s/a/${}/`:        `does not begin a ${GROUP}`,
	} {
		_, err := normalize.Parse([]string{text})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasSuffix(err.Error(), ": write $$ for a dollar sign") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The error for an expression has the user's text alone.
func TestParseNamesExpression(t *testing.T) {
	if _, err := normalize.Parse([]string{"s/(//"}); err == nil || !strings.HasSuffix(err.Error(), "missing closing ): `(`") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`stdout:s/[0-9]+/N/`)
	f.Add(`s|a\|b|\1|`)
	f.Fuzz(func(t *testing.T, text string) {
		if rules, err := normalize.Parse([]string{text}); err == nil {
			rules.Apply(outcome.Key{}, []byte("some 12 text"))
		}
	})
}

// TestUnmatched checks that a rule counts as matched once it has matched what the rules before it make of
// some content.
func TestUnmatched(t *testing.T) {
	texts := []string{`s/a/b/`, `s/ab*b$/x/`, `stderr:s/b/c/`, `s/bb/x/`}
	rules, err := normalize.Parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	stdout := outcome.Key{Place: outcome.Stdout}
	rules.Apply(stdout, []byte("none"))
	if got := rules.Unmatched(); !slices.Equal(got, texts) {
		t.Errorf("%q have not matched", got)
	}
	rules.Apply(stdout, []byte("ab"))
	if got := rules.Unmatched(); !slices.Equal(got, texts[1:3]) {
		t.Errorf("%q have not matched", got)
	}
	if !rules.AwaitMatch(stdout) || !rules[2:].AwaitMatch(outcome.Key{Place: outcome.Stderr}) || rules[2:].AwaitMatch(stdout) {
		t.Error("the parts that rules wait for are others")
	}
}
