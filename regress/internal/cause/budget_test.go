package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// No input takes time that grows with its square. What is here is large enough that each
// would take minutes if one of the bounds in the README did not hold.
func TestNothingIsQuadratic(t *testing.T) {
	lines := func(n int, line func(int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	same := func(line string) func(int) string { return func(int) string { return line } }
	for _, c := range []struct {
		name     string
		cases    int
		old, now string
	}{
		{"lines that are replaced each, with nothing between", 3, lines(90_000, same("a\n")), lines(90_000, same("b\n"))},
		{"lines of which one side has a part more", 1, lines(25_000, func(i int) string { return "a " + letters(i) + "\n" }), lines(25_000, func(i int) string { return "x\nb " + letters(i) + "\n" })},
		{"much that slides far", 1, lines(4000, same("f(x, y, z);\n")), lines(300_000, same("f(x, y, z);\n"))},
		{"breaks in long brackets", 1, strings.Repeat("(", 900) + lines(40_000, same(" a,")), strings.Repeat("(", 900) + lines(40_000, same("\na,"))},
		{"blanks in long strings", 1, lines(300, func(int) string { return `"` + strings.Repeat("a", 600) + strings.Repeat("+b", 190) + "\"\n" }), lines(300, func(int) string { return `"` + strings.Repeat("a", 600) + strings.Repeat(" +b", 190) + "\"\n" })},
		{"brackets behind a long blank", 1, lines(90, func(int) string {
			return "x =" + strings.Repeat(" ", 50_000) + "(" + strings.Repeat("a ,", 300) + ")\n"
		}), lines(90, func(int) string {
			return "x =" + strings.Repeat(" ", 50_000) + "(" + strings.Repeat("a\n,", 300) + ")\n"
		})},
	} {
		var cases []cause.Case
		for i := range c.cases {
			cases = append(cases, differing(fmt.Sprint(c.name, i), c.old, c.now))
		}
		t.Run(c.name, func(t *testing.T) { checkReplay(t, found(cases...), cases) })
	}
}
