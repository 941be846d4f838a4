package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// Names are what a person would write. They have classes of words, numbers for slots that stand for
// different words, and the constant neighbour of an edit without words.
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
			cases = append(cases, changedCase(fmt.Sprint("c", i), fill(c.old), fill(c.now)))
		}
		if f := analyseCases(cases...); len(f.Causes) != 1 || f.Causes[0].Name != c.want {
			t.Errorf("want %s%s", c.want, causeList(f))
		}
	}
}
