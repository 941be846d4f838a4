package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// A name says what a person would: kinds of words by name, a slot that stands for
// different words by number, and what always stands beside an edit that names no word.
func TestNames(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{"x = {f: WORD{1, 2}}\n", "x = {f: {1, 2}}\n", `- WORD before "{"`},
		{"LWORD:\ngo\n", "LWORD: ;\ngo\n", `+ ";" behind ":"`},
		{"x = len(WORD);\n", "x = WORD;\n", `- wrap len(_)`},
		{"WORD = WORD + zWORD;\n", "WORD += zWORD;\n", `"= WORD +" → "+="`},
		{"int x;\n", "[]int WORD;\nint x;\n", `+ "[]int WORD;"`},
	} {
		var cases []cause.Case
		for i := range 12 {
			fill := strings.NewReplacer("WORD", "v"+string(rune('a'+i))).Replace
			cases = append(cases, differing(fmt.Sprint("c", i), fill(c.old), fill(c.now)))
		}
		if f := found(cases...); len(f.Causes) != 1 || f.Causes[0].Name != c.want {
			t.Errorf("want %s%s", c.want, named(f))
		}
	}
}
