package cause_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// An emitter writes programs as a compiler to C does, with changes that can be switched on one by
// one. Its other choices do not depend on them.
type emitter struct {
	strings.Builder
	r       *rand.Rand
	changes int // a bit for each
}

// The changes that an emitter knows.
const (
	suffix   = iota // 12ll → 12LL
	qualify         // char * → const char *
	renamed         // puts(x) → rt_puts(x)
	include         // one more #include
	compound        // x = x + 1 → x += 1
	widen           // (int) → (int32_t)
	test            // if (x) → if ((x) != 0)
	label           // L1: → L1: ;
	changesMax
)

func (e *emitter) either(change int, old, now string) string {
	if e.changes&(1<<change) != 0 {
		return now
	}
	return old
}

func program(seed uint64, changes int) string {
	e := &emitter{r: rand.New(rand.NewPCG(seed, 1)), changes: changes}
	e.WriteString("#include <stdio.h>\n" + e.either(include, "", "#include <stdint.h>\n") + "\n")
	for range 1 + e.r.IntN(4) {
		fmt.Fprintf(e, "static long long f%d(%schar *%s, int %s) {\n", e.r.IntN(100), e.either(qualify, "", "const "), e.name(), e.name())
		for range 1 + e.r.IntN(6) {
			e.statement("    ", 2)
		}
		fmt.Fprintf(e, "    return %s;\n}\n\n", e.value())
	}
	return e.String()
}

func (e *emitter) name() string {
	return string(rune('a'+e.r.IntN(26))) + []string{"x", "count", "ptr", "_tmp", "y", "value", "idx"}[e.r.IntN(7)]
}

func (e *emitter) value() string {
	switch e.r.IntN(5) {
	case 0:
		return fmt.Sprintf("%d%s", e.r.IntN(1000), e.either(suffix, "ll", "LL"))
	case 1:
		return e.either(widen, "(int)", "(int32_t)") + e.name()
	case 2:
		return e.name() + " + " + e.value()
	case 3:
		return e.name() + "[" + e.value() + "]"
	}
	return e.name()
}

func (e *emitter) statement(indent string, depth int) {
	switch e.r.IntN(6) {
	case 0:
		n := e.name()
		fmt.Fprintf(e, "%s%s %s %s;\n", indent, n, e.either(compound, "= "+n+" +", "+="), e.value())
	case 1:
		fmt.Fprintf(e, "%s%s(%s);\n", indent, e.either(renamed, "puts", "rt_puts"), e.name())
	case 2:
		fmt.Fprintf(e, "%sL%d:%s\n", indent[2:], e.r.IntN(100), e.either(label, "", " ;"))
	case 3:
		if depth == 0 {
			fmt.Fprintf(e, "%s%s = %s;\n", indent, e.name(), e.value())
			return
		}
		c := e.value()
		fmt.Fprintf(e, "%sif (%s) {\n", indent, e.either(test, c, "("+c+") != 0"))
		for range 1 + e.r.IntN(3) {
			e.statement(indent+"    ", depth-1)
		}
		e.WriteString(indent + "}\n")
	case 4:
		fmt.Fprintf(e, "%sprintf(\"%%d %s\\n\", %s);\n", indent, e.name(), e.value())
	default:
		fmt.Fprintf(e, "%s%s = %s;\n", indent, e.name(), e.value())
	}
}

// plantedCases compares the programs of n seeds before and after the changes.
func plantedCases(n, changes int) (cases []cause.Case) {
	for i := range n {
		old, now := program(uint64(i), 0), program(uint64(i), changes)
		if old != now {
			cases = append(cases, changedCase(fmt.Sprintf("p%03d", i), old, now))
		}
	}
	return cases
}

func causeList(f *cause.Found) string {
	var b strings.Builder
	for _, c := range f.Causes {
		fmt.Fprintf(&b, "\n%s %d cases, %d lines: %s", c.ID, c.Cases, c.Lines, c.Name)
	}
	return b.String()
}

// One change of an emitter makes at most five causes, wherever it occurs.
func TestOneChangeIsFewCauses(t *testing.T) {
	for change := range changesMax {
		cases := plantedCases(150, 1<<change)
		f := analyseCases(cases...)
		if len(f.Causes) > 5 || len(f.Members) != len(cases) {
			t.Errorf("change %d: %d causes%s", change, len(f.Causes), causeList(f))
		}
		checkReplay(t, f, cases)
	}
}

// at returns the cause of the edit that touches a range of the old content.
func at(edits []cause.Attributed, old cause.Span) int {
	best := -1
	for _, e := range edits {
		if e.Old.From <= old.To && old.From <= e.Old.To {
			if e.Old == old {
				return e.Cause
			}
			if best < 0 || e.Old.From <= old.From {
				best = e.Cause
			}
		}
	}
	return best
}

// A change keeps its signature over other cases.
func TestSignaturesAreStable(t *testing.T) {
	for change := range changesMax {
		all := plantedCases(150, 1<<change)
		of := map[string]bool{}
		for _, c := range analyseCases(all...).Causes {
			of[c.Signature] = true
		}
		for _, part := range [][]cause.Case{all[:len(all)/2], all[len(all)/3:]} {
			if c := analyseCases(part...).Causes[0]; !of[c.Signature] {
				t.Errorf("change %d: %s has another signature over a part of the cases", change, c.Name)
			}
		}
	}
}

// A formatter that indents by two, puts braces on lines of their own, and sets spaces
// within brackets.
func TestFormatterIsFewCauses(t *testing.T) {
	var cases []cause.Case
	for i := range 150 {
		old := program(uint64(i), 0)
		now := strings.NewReplacer("    ", "  ", ") {\n", ")\n{\n", "(", "( ", ")", " )").Replace(old)
		cases = append(cases, changedCase(fmt.Sprintf("p%03d", i), old, now))
	}
	f := analyseCases(cases...)
	if len(f.Causes) > 10 || f.Rewritten {
		t.Errorf("%d causes%s", len(f.Causes), causeList(f))
	}
	checkReplay(t, f, cases)
}

// Unrelated outputs have one cause, Rewritten.
func TestRewritten(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var cases []cause.Case
	for i, size := range []int{1500, 12_000} {
		for n := range 30 {
			c := changedCase(fmt.Sprintf("p%d%03d", i, n), program(uint64(n), 0), noiseText(uint64(n), 1500))
			if size > 1500 {
				c = changedCase(c.Name, noiseText(uint64(n), size), noiseText(uint64(n+100), size))
			}
			cases = append(cases, c)
		}
		f := analyseCases(cases...)
		if !f.Rewritten || len(f.Causes) != 1 || f.Causes[0].Kind != cause.Rewritten || f.Causes[0].Cases != len(cases) {
			t.Errorf("rewritten %v%s", f.Rewritten, causeList(f))
		}
		checkReplay(t, f, cases[len(cases)-10:])
	}
}

// noiseText returns a text without any structure.
func noiseText(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 9))
	b := make([]byte, n)
	const letters = "abcdefgh(){};,. \n0123456789"
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}
