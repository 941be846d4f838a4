package cause_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// Tags that are put around whitespace are one cause, whatever the whitespace is, beside which tags it
// stands, and however many of them a line has. Taken out again they are one, too.
func TestTagsAroundWhitespace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	between := regexp.MustCompile(`> +<`)
	var plain, wrapped []cause.Case
	for i := range 8 {
		var old strings.Builder
		for range 40 {
			old.WriteString(pick("", "    ", "\t"))
			spans := 1 + r.IntN(9)
			if r.IntN(8) == 0 {
				spans = 30 // a long line, which is aligned in pieces
			}
			for range spans {
				fmt.Fprintf(&old, `<span class="%s">%s</span>%s`, pick("k", "kr", "nx", "p", "o"), pick("a", "b", "fo", "=", "(", "&gt;"), pick(" ", "", "  "))
			}
			old.WriteString(pick("<b>end</b>", "end.") + "\n" + pick("", "", "\n"))
		}
		now := between.ReplaceAllStringFunc(old.String(), func(gap string) string {
			return `><span class="w">` + gap[1:len(gap)-1] + `</span><`
		})
		plain = append(plain, changedCase(fmt.Sprint("c", i), old.String(), now))
		wrapped = append(wrapped, changedCase(fmt.Sprint("c", i), now, old.String()))
	}
	for want, cases := range map[string][]cause.Case{"+ wrap <span class=STR>_</span>": plain, "- wrap <span class=STR>_</span>": wrapped} {
		f := analyseCases(cases...)
		if len(f.Causes) != 1 || f.Causes[0].Name != want {
			t.Errorf("want %q alone%s", want, causeList(f))
		}
		checkReplay(t, f, cases)
	}
}

// Edits that begin or end at a tag are whole tags.
func TestWholeTags(t *testing.T) {
	for _, c := range []struct {
		old, now string // x stands for a word that no other case has
		want     []string
	}{
		{"<p><i>x</i> y</p>\n", "<p><b><i>x</i></b> y</p>\n", []string{`+ "</b>"`, `+ "<b>"`}},
		{"<p>a<i>x</i></p>\n", "<p>a<br/><i>x</i></p>\n", []string{`+ "<br/>"`}},
		{"<p>x</b> and <b>y</p>\n", "<p><b>x</b> and <b>y</b></p>\n", []string{`+ "</b>"`, `+ "<b>"`}},
		{"<p>x</p>\n", "<p><b>x<br></b></p>\n", []string{`+ "<b>"`, `+ "<br></b>"`}},
		{"a(x);\nb();\n", "a(x);\n/*** A ***/\ndanger();\n/* z */\nb();\n", []string{`+ "/*TXT*/ danger(); /* TXT */"`}},
	} {
		var cases []cause.Case
		for i := range 12 {
			word := "v" + strings.Repeat(string(rune('a'+i)), i+1)
			fill := func(text string) string { return strings.Repeat("line\n", 3*i) + strings.Replace(text, "x", word, 1) }
			cases = append(cases, changedCase(fmt.Sprint("c", i), fill(c.old), fill(c.now)))
		}
		f := analyseCases(cases...)
		var got []string
		for _, c := range f.Causes {
			got = append(got, c.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q → %q: want %q%s", c.old, c.now, c.want, causeList(f))
		}
		checkReplay(t, f, cases)
	}
}
