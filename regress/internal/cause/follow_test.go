package cause_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// expectCauses analyses cases and compares the names of their causes.
func expectCauses(t *testing.T, cases []cause.Case, want ...string) {
	t.Helper()
	f := analyseCases(cases...)
	var got []string
	for _, c := range f.Causes {
		got = append(got, c.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("want %q%s", want, causeList(f))
	}
	checkReplay(t, f, cases)
}

// wrap joins words to lines of at most width columns.
func wrap(words []string, width int) string {
	var b strings.Builder
	at := 0
	for i, w := range words {
		switch {
		case i == 0:
		case at+1+len(w) > width:
			b.WriteString("\n    ")
			at = 4
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += len(w)
	}
	return b.String() + "\n"
}

// Lines that are wrapped elsewhere because a longer word pushed others on are one cause, beside the
// word. Alone, a moved line break is what it was.
func TestRewraps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	paragraphs := func(change func(string) string) (cases []cause.Case) {
		for i := range 20 {
			var old, now []string
			for k := range 12 {
				words := []string{fmt.Sprintf("p%d:", k)}
				for range 8 + r.IntN(8) {
					words = append(words, fmt.Sprintf("w%d,", r.IntN(1e6)), []string{"real", "integer"}[r.IntN(2)], "*")
				}
				old = append(old, wrap(words, 72))
				for i, w := range words {
					words[i] = change(w)
				}
				now = append(now, wrap(words, 72))
			}
			cases = append(cases, changedCase(fmt.Sprintf("c%02d", i), strings.Join(old, ""), strings.Join(now, "")))
		}
		return cases
	}
	expectCauses(t, paragraphs(func(w string) string { return strings.Replace(w, "real", "doublereal", 1) }), `"real" → "doublereal"`, "lines are wrapped elsewhere")
	expectCauses(t, paragraphs(func(w string) string { return strings.Replace(w, "integer", "int", 1) }), `"integer" → "int"`, "lines are wrapped elsewhere")

	var alone []cause.Case
	for i := range 12 {
		alone = append(alone, changedCase(fmt.Sprint("c", i), fmt.Sprintf("f(a%d,\n  b);\n", i), fmt.Sprintf("f(a%d, b);\n", i)))
	}
	expectCauses(t, alone, "line break → space in f(…) behind ,")
}

// The numbers of names shift when one of the names is gone: one cause. A wrong number is not among
// them, and a wrong constant never is.
func TestRenumbered(t *testing.T) {
	var cases []cause.Case
	names := strings.Fields("above below left right near far first last other")
	for i := range 20 {
		var old, now strings.Builder
		gone, n := 2+i%3, 0
		for k := range 9 {
			fmt.Fprintf(&old, "use(&io__%d, v%d, %s);\n%[3]s = %d;\n", k+10, i, names[k], k)
			if k == gone {
				fmt.Fprintf(&now, "use(&ci, v%d, %s);\n%[2]s = %d;\n", i, names[k], k)
				continue
			}
			limit := k
			if k == 7 {
				limit = 8
			}
			fmt.Fprintf(&now, "use(&io__%d, v%d, %s);\n%[3]s = %d;\n", n+10, i, names[k], limit)
			n++
		}
		cases = append(cases, changedCase(fmt.Sprintf("c%02d", i), old.String(), now.String()))
	}
	f := analyseCases(cases...)
	by := map[string]int{}
	for _, c := range f.Causes {
		by[c.Name] = c.Cases
	}
	if by[`"io__" renumbered`] != 20 || by[`"7" → "8" before ";"`] != 20 {
		t.Errorf("want all numbers of io__ in one cause, and the constant apart%s", causeList(f))
	}
	checkReplay(t, f, cases)

	var wrong []cause.Case
	for i := range 20 {
		old := strings.Repeat(fmt.Sprintf("a(t1, t2, t3, v%d);\n", i), 3)
		wrong = append(wrong, changedCase(fmt.Sprintf("c%02d", i), old, strings.Replace(old, "t2", "t3", 1)))
	}
	expectCauses(t, wrong, `"2" → "3" before ","`)

	var widened []cause.Case
	for i := range 20 {
		old := fmt.Sprintf("int8 a%d;\nlong b;\nint32 c%[1]d;\n", i)
		widened = append(widened, changedCase(fmt.Sprintf("c%02d", i), old, strings.NewReplacer("int8", "int16", "int32", "int64").Replace(old)))
	}
	expectCauses(t, widened, `"8" → "16" before "a"`, `"32" → "64" before "c"`)
}

// A text that is filled to another width is one change, whatever stands beside the breaks, and also where a
// paragraph has only one. A formatter that joins lines without need makes another.
func TestFilledText(t *testing.T) {
	words := strings.Fields("a compiler of the language, and not only of that (as some say), is in use for all of it; with or without a file, the rest is what was asked")
	fill := func(r *rand.Rand, width int) (text string) {
		for range 6 {
			column := 0
			for range 8 + r.IntN(60) {
				w := words[r.IntN(len(words))]
				switch {
				case column == 0:
				case column+1+len(w) > width:
					text, column = text+"\n", 0
				default:
					text, column = text+" ", column+1
				}
				text, column = text+w, column+len(w)
			}
			text += "\n\n"
		}
		return text
	}
	var cases, joined []cause.Case
	for i := range 30 {
		name := fmt.Sprintf("c%02d", i)
		seeded := func() *rand.Rand { return rand.New(rand.NewPCG(1, uint64(i))) }
		cases = append(cases, changedCase(name, fill(seeded(), 72), fill(seeded(), 80)))
		joined = append(joined, changedCase(name, fmt.Sprintf("if (v%d)\n  f();\nint x = 1;\n", i), fmt.Sprintf("if (v%d) f();\nint x = 1;\n", i)))
	}
	expectCauses(t, cases, "lines are wrapped elsewhere")
	expectCauses(t, joined, "line break → space behind )")
}

// What all places of a change of a gap are beside is its context. A stronger neighbour that only
// some of them have is none.
func TestPlacedSpaces(t *testing.T) {
	var casts, both []cause.Case
	for i := range 20 {
		old := fmt.Sprintf("x = (int)v%d + (int)&y;\nz = (int)\"s\", (int)-1;\n", i)
		casts = append(casts, changedCase(fmt.Sprintf("c%02d", i), old, strings.ReplaceAll(old, "(int)", "(int) ")))
		old = fmt.Sprintf("f(v%d)&g;\na&b;\nf(x)-1;\nc-d;\n", i)
		both = append(both, changedCase(fmt.Sprintf("c%02d", i), old, strings.NewReplacer("&", " &", "-", " -").Replace(old)))
	}
	expectCauses(t, casts, "no space → space beside )")
	expectCauses(t, both, "no space → space beside &", "no space → space beside -")
}

// What looks like a character reference and has spaces is none: they would divide its pattern.
func TestNoReference(t *testing.T) {
	var cases []cause.Case
	for i := range 9 {
		added := []string{"&# $bar;\n", "foo\n", "&# $bar; foo\n"}[i/4]
		cases = append(cases, changedCase(fmt.Sprint("c", i), "a\n", "a\n"+added))
	}
	f := analyseCases(cases...)
	checkReplay(t, f, cases)
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cause.Decode(b); err != nil {
		t.Error(err)
	}
}

// Quotes and dashes of typography, and references of markup, are signs like those of ASCII.
func TestTypography(t *testing.T) {
	var cases []cause.Case
	for i := range 20 {
		var old string
		for k, line := range []string{"It isn't v%d.", "(c) of v%d", "from v%d -- to", "said &quot;v%d"} {
			old += strings.Repeat(fmt.Sprintf("<p>others have v%d</p>\n", k), 1+(i*i+k*i)%7) + fmt.Sprintf("<p>"+line+"</p>\n", i)
		}
		cases = append(cases, changedCase(fmt.Sprintf("c%02d", i), old, strings.NewReplacer("'", "’", "&quot;", "“", "(c)", "©", "--", "–").Replace(old)))
	}
	expectCauses(t, cases, `"'" → "’" before "t"`, `"&quot;" → "“" before "v"`, `"(c)" → "©"`, `"--" → "–" before "to"`)
}
