package hole

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/diff"
)

// A tool may print the marks that muster prints.
func TestTextOfAMark(t *testing.T) {
	for _, runs := range [][][]string{
		{{"x ⟨number⟩\n"}, {"x 5\n"}},
		{{"x ⟨number⟩ y\n", "x 5 y\n"}, {"x 6 y\n", "x 7 y\n"}},
		{{"x 5\n", "x ⟨number⟩\n"}, {"x ⟨number⟩\n", "x 6\n"}},
	} {
		p := patternOf(runs)
		for _, run := range runs {
			if !p.Fits(around(run...)) {
				t.Errorf("%q does not fit", run)
			}
			p.Fill(around(run...))
		}
	}
}

// A change in every other line of a million: whatever is done for each line must not visit all changes.
func TestManyChanges(t *testing.T) {
	const many = 500_000
	var o other
	for i := range many {
		o.changes = append(o.changes, diff.Change{OldFrom: 2 * i, OldTo: 2*i + 1, NowFrom: 3 * i, NowTo: 3*i + 2})
	}
	for i := range many {
		line := 2 * i
		if from, to := o.startOf(line), o.endOf(line+1); from != 3*i || to != 3*i+2 {
			t.Fatalf("line %d is in [%d, %d)", line, from, to)
		}
		if from, to := o.around(line, line+1); from != 3*i || to != 3*i+2 {
			t.Fatalf("around line %d is [%d, %d)", line, from, to)
		}
		if o.within(line) {
			t.Fatalf("line %d is within a change", line)
		}
		if _, fits := o.patchPartly(&element{from: line}, 0); fits {
			t.Fatalf("line %d has a partner", line)
		}
	}
}

// A countingReader counts the runes that an expression looks at.
type countingReader struct {
	strings.Reader
	count int
}

func (r *countingReader) ReadRune() (rune, int, error) {
	r.count++
	return r.Reader.ReadRune()
}

// A line may consist of what is nearly a long token, again and again.
func TestTokensOfHostileLines(t *testing.T) {
	for _, part := range []string{
		"1.1s", "1s", "1.1", "1d 1h 1m 1", "1:11:11.1", "2026-11-25T", "Nov 1 Nov", "Mon, ", "0x", "a", "1", "1e+1", "aaaaaaaa-aaaa-", "/tmp/", " \t",
	} {
		line := strings.Repeat(part, 16000/len(part)) + "_"
		looks := 0
		for rest := line; rest != ""; {
			r := countingReader{Reader: *strings.NewReader(rest)}
			rest = rest[tokenPattern.FindReaderIndex(&r)[1]:]
			looks += r.count
		}
		if looks > 20*len(line) {
			t.Errorf("%q: %d looks at %d bytes", part, looks, len(line))
		}
	}
}

// A few regions of very many lines must not be counted again for each region.
func TestReachOfAnOrder(t *testing.T) {
	one, two := slices.Repeat([]string{"a\n"}, 20), slices.Repeat([]string{"b\n"}, 20)
	b := builder{regions: []region{{from: 0, to: 20, alternatives: [][]string{one, two}}, {from: 21, to: 41, alternatives: [][]string{two, one}}}}
	if end := b.balanced(0, 80, wholeLines); end != 2 {
		t.Errorf("lines within reach: %d", end)
	}
	if end := b.balanced(0, 79, wholeLines); end != 0 {
		t.Errorf("lines beyond reach: %d", end)
	}
}

// A long block that does not vary is searched for at each of many places. Most differ in their first line.
func TestLongBlockBetweenLinesThatComeAndGo(t *testing.T) {
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&lines, i)
	}
	block := lines.String()
	run := func(n int) []byte {
		return []byte(strings.Repeat("x\n", n) + block + strings.Repeat("y\n", n))
	}
	p := Find(run(3000), run(4000))
	for _, n := range []int{3000, 3500, 3999, 5000} {
		if !p.Fits(run(n)) {
			t.Errorf("%d lines before and after do not fit", n)
		}
	}
	if p.Fits([]byte("z\n" + block[2:] + "z\n")) {
		t.Error("a block without its first line fits")
	}
}

// None of many lines with holes is found in a text of as many other lines.
func TestFillOfManyOtherLines(t *testing.T) {
	const many = 10_000
	run := func(format string) []byte {
		var lines strings.Builder
		for i := range many {
			fmt.Fprintf(&lines, format, i)
		}
		return append([]byte(strings.Repeat("same\n", many)), lines.String()...)
	}
	p := Find(run("took 1%d of %[1]d\n"), run("took 2%d of %[1]d\n"))
	if p.Count().IsWhole || p.Count().Holes != many {
		t.Fatalf("%+v", p.Count())
	}
	now := run("gave 3%d\n")
	if got := string(p.Fill(now)); got != string(now) {
		t.Errorf("filled to %d bytes", len(got))
	}
}
