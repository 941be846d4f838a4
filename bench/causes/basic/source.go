// Package basic is a small compiler from BASIC to C whose emitter can be changed on purpose,
// and a generator of programs for it. The true causes of all differences are known. It knows
// nothing of muster.
package basic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// lineStep is how far line numbers are apart.
const lineStep = 10

// Lines draws how many lines a program has: log-normal, as the sizes of real sources are.
func Lines(r *rand.Rand, median float64) int {
	return max(5, int(median*math.Exp(0.8*r.NormFloat64())))
}

// Source writes a program with a number of lines. The same seed gives the same program.
func Source(seed uint64, lines int) []byte {
	p := program{r: rand.New(rand.NewPCG(seed, 0)), lines: lines}
	p.line("REM %s", p.words())
	for p.number < p.lines-len(p.open)-1 {
		p.statement()
	}
	for len(p.open) > 0 {
		p.next()
	}
	p.line("END")
	return []byte(p.text.String())
}

// program is one that is being written.
type program struct {
	r      *rand.Rand
	text   strings.Builder
	lines  int
	number int
	open   []string // the variables of the loops that are not yet closed
}

func (p *program) line(format string, args ...any) {
	p.number++
	fmt.Fprintf(&p.text, "%d %s\n", p.number*lineStep, fmt.Sprintf(format, args...))
}

func (p *program) statement() {
	switch n := p.r.IntN(100); {
	case n < 34:
		p.line("LET %s = %s", p.variable(), p.expression(2))
	case n < 44:
		p.line("LET Q%d(%s) = %s", p.r.IntN(4), p.expression(0), p.expression(1))
	case n < 54:
		p.line("PRINT \"%s\"", p.words())
	case n < 64:
		p.line("PRINT %s", p.expression(1))
	case n < 74:
		p.line("IF %s %s %s THEN %d", p.variable(), p.one("=", "<>", "<", ">", "<=", ">="), p.expression(1), p.target())
	case n < 79 && len(p.open) < 3:
		v := fmt.Sprintf("I%d", len(p.open))
		p.open = append(p.open, v)
		p.line("FOR %s = %s TO %s", v, p.expression(0), p.expression(0))
	case n < 88 && len(p.open) > 0:
		p.next()
	case n < 91:
		p.line("GOSUB %d", p.target())
	case n < 94:
		p.line("INPUT %s", p.variable())
	case n < 97:
		p.line("REM %s", p.words())
	default:
		p.line("LET S%d$ = \"%s\"", p.r.IntN(9), p.words())
	}
}

func (p *program) next() {
	p.line("NEXT %s", p.open[len(p.open)-1])
	p.open = p.open[:len(p.open)-1]
}

func (p *program) target() int { return (1 + p.r.IntN(p.lines)) * lineStep }

// variable is a number's: Q is for arrays.
func (p *program) variable() string {
	return string("ABCDEFGHIJKLMNOPRSTUVWXYZ"[p.r.IntN(25)]) + p.one("", "", "1", "2", "9")
}

func (p *program) one(words ...string) string { return words[p.r.IntN(len(words))] }

// expression has at most a number of nested operators.
func (p *program) expression(depth int) string {
	if depth == 0 || p.r.IntN(3) == 0 {
		switch p.r.IntN(5) {
		case 0, 1, 2:
			return fmt.Sprint(p.r.IntN([]int{10, 100, 10000}[p.r.IntN(3)]))
		default:
			return p.variable()
		}
	}
	switch p.r.IntN(6) {
	case 0:
		return p.one("ABS", "SGN", "RND", "SQR") + "(" + p.expression(depth-1) + ")"
	case 1:
		return "(" + p.expression(depth-1) + " " + p.one("+", "-") + " " + p.expression(depth-1) + ")"
	}
	return p.expression(depth-1) + " " + p.one("+", "-", "*", "/") + " " + p.expression(depth-1)
}

func (p *program) words() string {
	words := make([]string, 1+p.r.IntN(4))
	for i := range words {
		words[i] = p.one("the", "sum", "of", "all", "points", "is", "press", "any", "key", "score", "turn", "board",
			"ship", "north", "fuel", "left", "your", "name", "YES", "NO", "level", "x", "y", "row", "column", "total")
	}
	return strings.Join(words, " ")
}
