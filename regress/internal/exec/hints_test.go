package exec_test

import (
	"slices"
	"testing"

	"muster/regress/internal/exec"
)

func TestHints(t *testing.T) {
	for _, c := range []struct {
		words []string
		shell bool
		want  []string
	}{
		{words: []string{"tool", "-x", "{in}", "{out}", "{stem}.o", "{name}", "{dir}"}},
		{words: []string{"tool", "{input}", "-o{Output}", "{input}"}, want: []string{
			"{Output} is not a token: did you mean {out}?", "{input} is not a token: did you mean {in}?"}},
		{words: []string{"tool", "{}"}, want: []string{"{} is not a token: did you mean {in}?"}},
		{words: []string{"tool", "{im}"}, want: []string{"{im} is not a token: did you mean {in}?"}},
		{words: []string{"tool", "{stam}.o", "{x}", "{inn"}, want: []string{"{stam} is not a token: did you mean {stem}?"}},
		{words: []string{"awk", "{print}", "{in}", "{", "}", "a{b"}},
		{words: []string{"tool", "{in} > {out}"}, want: []string{"> needs a shell: add --shell"}},
		{words: []string{"tool", "{in}", "|", "wc", "2>/dev/null"}, want: []string{"2>/dev/null needs a shell: add --shell", "| needs a shell: add --shell"}},
		{words: []string{"tool {in} > {out} {file}"}, shell: true, want: []string{"{file} is not a token: did you mean {in}?"}},
		{words: []string{"sh", "-c", "tool {in} > {out}"}},
		{words: []string{"grep", "a|b", "a b", "{in}"}},
		{words: []string{"tool", "-v {in}"}, want: []string{`the quotes make one word of "-v {in}": leave them out, or add --shell`}},
	} {
		got := (&exec.Command{Words: c.words, Shell: c.shell}).Hints()
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}
