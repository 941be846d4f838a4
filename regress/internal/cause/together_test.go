package cause_test

import (
	"fmt"
	"slices"
	"testing"

	"muster/regress/internal/cause"
)

// Changes that touch are told apart, each by its own cause.
func TestChangesThatTouch(t *testing.T) {
	for _, c := range []struct {
		name, old, now string // a word that no other case has is put into them
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
			cases = append(cases, differing(fmt.Sprint("c", word), fmt.Sprintf(c.old, word), fmt.Sprintf(c.now, word)))
		}
		f := found(cases...)
		var got []string
		for _, c := range f.Causes {
			got = append(got, c.Name)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: want %q%s", c.name, c.want, named(f))
		}
		checkReplay(t, f, cases)
	}
}
