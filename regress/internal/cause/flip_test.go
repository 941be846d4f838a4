package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

// side is what a tool left: its exit status, its streams, and a file if it has a text.
type side struct {
	exit           int
	stdout, stderr string
	file           string
}

func (s side) messages() []byte {
	if s.stderr != "" {
		return []byte(s.stderr)
	}
	return []byte(s.stdout)
}

func flipCase(name string, old, now side) cause.Case {
	c := cause.Case{
		Name: name, Old: regress.Ending{Code: old.exit}, Now: regress.Ending{Code: now.exit},
		OldMessages: old.messages(), NowMessages: now.messages(),
	}
	add := func(k outcome.Key, a, b string) {
		if a == b {
			return
		}
		p := cause.Part{Key: k, OldText: []byte(a), NowText: []byte(b)}
		if a != "" || k.Place != outcome.File {
			p.Old = &outcome.Part{Key: k, Form: outcome.Regular, Size: int64(len(a))}
		}
		if b != "" || k.Place != outcome.File {
			p.Now = &outcome.Part{Key: k, Form: outcome.Regular, Size: int64(len(b))}
		}
		c.Parts = append(c.Parts, p)
	}
	add(outcome.Key{Place: outcome.Stdout}, old.stdout, now.stdout)
	add(outcome.Key{Place: outcome.Stderr}, old.stderr, now.stderr)
	add(outcome.Key{Place: outcome.File, Path: "out.s"}, old.file, now.file)
	return c
}

func namesOf(cases ...cause.Case) (names []string) {
	a := cause.New()
	for _, c := range cases {
		a.Add(c)
	}
	for _, c := range a.Causes().Causes {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// A flip is one cause beside those of the text. What differs only because the tool failed goes with the flip.
func TestFlips(t *testing.T) {
	const gcc = "a.c: In function ‘f’:\na.c:3:5: %s: unused variable ‘x’ [-Wunused]\n    3 | int x;\n      |     ^\n"
	warning, code := fmt.Sprintf(gcc, "warning"), "f:\n\tmovl $1, %eax\n\tret\n"
	for name, c := range map[string]struct {
		old, now side
		want     string
	}{
		"a linter that always has a summary": {
			side{1, "a.x:1: error E\na.x:2: warning W\na.x:3: note of old\n2 found\n", "", ""}, side{0, "a.x:2: warning W\na.x:3: note of new\n1 found\n", "", ""},
			`"2" → "1" before found; "note of old" → "note of new" at message; - "error E"; passes: error E`,
		},
		"a silent linter, one kind":  {side{0, "", "", ""}, side{1, "a.x:1: bad x\na.x:7: bad x\n", "", ""}, "fails: bad x"},
		"a silent linter, two kinds": {side{1, "a.x:1: bad x\na.x:7: worse y\n", "", ""}, side{0, "", "", ""}, `- "bad x"; - "worse y"; passes: bad x`},
		"a linter, others in their place": {
			side{1, "a.x:1: error: no y\n", "", ""}, side{0, "a.x:2: note: old z\n", "", ""},
			`+ "note: old z"; - "error: no y"; passes: error: no y`,
		},
		"a linter, more at the end": {
			side{1, "a.x:1: error: no y\n", "", ""}, side{0, "a.x:1: error: no y\na.x:3: bad z\na.x:9: worse w\n", "", ""},
			`+ "bad z"; + "worse w"; passes: error: no y`,
		},
		"a linter, one more at the end": {
			side{1, "a.x:1: error: no y\n", "", ""}, side{0, "a.x:1: error: no y\na.x:3: bad z\n", "", ""}, `+ "bad z"; passes: error: no y`,
		},
		"a linter, all is new": {
			side{1, "", "cannot read\n", ""}, side{0, "a.x:3: bad z\na.x:9: worse w\n", "", ""}, `+ "bad z"; + "worse w"; passes: cannot read`,
		},
		"a linter that says so": {
			side{1, "E501 Line too long\n --> a.x:1\n  |\n1 | some source\n  |\n", "", ""}, side{0, "All checks passed!\n", "", ""}, "passes: EN Line too long",
		},
		"JSON": {
			side{1, `[{"file": "a.x", "errors": [{"rule": "long"}], "fixes": 1, "stats": "quick"}]`, "", ""},
			side{0, `[{"file": "a.x", "errors": [], "fixes": 1, "stats": "slow"}]`, "", ""},
			`"quick" → "slow" at stats; - {…} in errors; passes: [{STR: STR, STR: [{STR: "long"}], STR: N, STR: STR}]`,
		},
		"a compiler":                     {side{0, "", "", code}, side{1, "", "a.c:3: error: no x\na.c:4: error: no such y\n", ""}, "fails: error: no x"},
		"a compiler with warnings":       {side{0, "", warning, code}, side{1, "", fmt.Sprintf(gcc, "error") + warning, ""}, "fails: error: unused variable STR"},
		"a compiler without other files": {side{0, "", warning, ""}, side{1, "", fmt.Sprintf(gcc, "error"), ""}, `"warning" → "error"; fails: error: unused variable STR`},
		"a formatter":                    {side{0, code, "", ""}, side{2, "", "a.c:3: bad x\na.c:4: worse y\n", ""}, "fails: exit 2: bad x"},
		"a transpiler that stops":        {side{0, code + code, warning, ""}, side{1, code, warning + "a.c:9: error: bad\n", ""}, "fails: error: bad"},
		"a compiler that works again":    {side{1, "", "a.c:3: error: no x\n", ""}, side{0, "", "", code}, "passes: error: no x"},
		"the first error is not new":     {side{0, "a.x:1: error A\na.x:5: tail of it\n", "", ""}, side{1, "a.x:1: error A\na.x:3: error B\na.x:5: tail of it\n", "", ""}, `+ "error B"; fails: error B`},
		"a file is another one":          {side{1, "", "bad\n", "a = 1\nb = 2\nc = 3\n"}, side{0, "", "", "a = 1\nb = 7\nc = 3\n"}, `"2" → "7"; passes: bad`},
	} {
		got := strings.Join(namesOf(flipCase("a.x", c.old, c.now)), "; ")
		if got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

// The name of a case is no part of a cause, whatever it looks like.
func TestFlipsWithoutNames(t *testing.T) {
	for _, form := range []string{"%[1]s:3: E501 long", "%[2]s:3:1: long", "lint: %[1]s: long", "%[3]s(7): long", "\"%[1]s\", line 3: long", "in %[1]s: long", "%[2]s 3:1 long"} {
		var cases []cause.Case
		for _, name := range []string{"nine", "nine.py", "a/b.c/error", "nine lives.py", "naïve.txt", "x/one-two.longextension"} {
			base := name[strings.LastIndexByte(name, '/')+1:]
			stem, _, _ := strings.Cut(base, ".")
			if strings.HasPrefix(form, "in ") && !strings.Contains(base, ".") && base == name {
				continue // it may be any word
			}
			cases = append(cases, flipCase(name, side{1, fmt.Sprintf(form+"\n", name, base, stem), "", ""}, side{}))
		}
		if names := namesOf(cases...); len(names) != 1 {
			t.Errorf("%s: %q", form, names)
		}
	}
	one := flipCase("a", side{}, side{1, "", "a value is missing\n", ""})
	if names := namesOf(one, flipCase("b", side{}, side{1, "", "a value is missing\n", ""})); len(names) != 1 {
		t.Errorf("a word: %q", names)
	}
}
