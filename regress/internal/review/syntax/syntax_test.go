package syntax

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/review"
)

// printed returns a text with its tokens in brackets, after the first letter of their kind.
func printed(text string, tokens []review.Token) string {
	var b strings.Builder
	at := 0
	for _, t := range tokens {
		fmt.Fprintf(&b, "%s%s[%s]", text[at:t.From], t.Kind[:1], text[t.From:t.To])
		at = t.To
	}
	return b.String() + text[at:]
}

func TestTokens(t *testing.T) {
	for _, one := range []struct{ file, text, want string }{
		{"a.go", "func f(a int) { return `x\ny` + 1.5 } // it's\n", "k[func] f(a k[int]) { k[return] s[`x\ny`] + n[1.5] } c[// it's]\n"},
		{"dir/A.C", "#define X 1'000 /* a\n\"b */ \"c\\\"d\" 'e\nint", "k[#define] X n[1]'n[000] c[/* a\n\"b */] s[\"c\\\"d\"] s['e]\nk[int]"},
		{"a.py", "def f():\n    '''doc\n    # no'''\n    return x#y\n", "k[def] f():\n    s['''doc\n    # no''']\n    k[return] x#y\n"},
		{"a.bas", "10 PRINT \"a\\\" ' it is\nrem all\nLet b$ = 1\n", "n[10] k[PRINT] s[\"a\\\"] c[' it is]\nc[rem all]\nk[Let] b$ = n[1]\n"},
		{"a.sh", "if [ $# -gt 1 ]; then echo \"a # b\"; fi # c", "k[if] [ $# -gt n[1] ]; k[then] k[echo] s[\"a # b\"]; k[fi] c[# c]"},
		{"a.html", "it's <a href=\"b > c\">if</a><!-- x -->", "it's k[<a] href=s[\"b > c\"]>ifk[</a]>c[<!-- x -->]"},
		{"a.sql", "SELECT 'it''s' -- x\n", "k[SELECT] s['it']s['s'] c[-- x]\n"},
		{"Makefile", "all: # é\n", "all: c[# é]\n"},
		{"a.rs", "fn f<'a>(x: &'a str) {}", "k[fn] f<'a>(x: &'a k[str]) {}"},
		{"a.c", "x = \"ends with its line\ny = 'é'", "x = s[\"ends with its line]\ny = s['é']"},
		{"a.lua", "x = [[a\nb]] --[[c\nd]] y -- e", "x = s[[[a\nb]]] c[--[[c\nd]]] y c[-- e]"},
		{"out.unknown", "int 1", "int 1"},
		{"a", "int 1", "int 1"},
	} {
		parts := []review.Part{{Name: one.file, Now: []byte(one.text)}}
		AddTokens("case", parts)
		if got := printed(one.text, parts[0].NowTokens); got != one.want {
			t.Errorf("%s\n got %q\nwant %q", one.file, got, one.want)
		}
	}
}

func TestStandardOutputIsInTheLanguageOfTheSource(t *testing.T) {
	parts := []review.Part{{Name: "stdout", Old: []byte("int"), Now: []byte("int a")}, {Name: "stderr", Old: []byte("int")}}
	AddTokens("a.c", parts)
	if len(parts[0].OldTokens) != 1 || len(parts[0].NowTokens) != 1 || parts[1].OldTokens != nil {
		t.Error(parts)
	}
}

// Tokens are in order, do not touch each other's text, and are never empty, whatever the text is.
func TestTokensOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(families).Draw(t, "family").language
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"a", "1", ".", "\n", " ", "\\", `"`, `"""`, "'", "`", "/*", "*/", "//", "#", "--", "[[", "]]", "<", ">", "<!--", "-->", "é", "{-", "rem ", "%", ";",
		})).Draw(t, "text"), "")
		at := 0
		for _, token := range l.tokens([]byte(text)) {
			if token.From < at || token.To <= token.From || token.To > len(text) {
				t.Fatalf("%q: %v after %d", text, token, at)
			}
			at = token.To
		}
	})
}

// A file belongs to one language.
func TestFilesOfLanguages(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range families {
		for _, file := range strings.Fields(f.files) {
			if seen[file] || strings.ToLower(file) != file {
				t.Errorf("%q is there twice, or not in small letters", file)
			}
			seen[file] = true
		}
		for _, spaced := range []string{f.files, f.words} {
			if spaced != "" && (!strings.HasPrefix(spaced, " ") || !strings.HasSuffix(spaced, " ")) {
				t.Errorf("no space around %q", spaced)
			}
		}
	}
}
