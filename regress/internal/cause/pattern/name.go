package pattern

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/regress/internal/cause/token"
	"muster/regress/internal/lookalike"
)

// nameMax is the number of characters that a name shows of one side.
const nameMax = 60

// NameOf returns the name of a pattern.
func NameOf(p *Pattern) string {
	switch p.In {
	case "":
		return Describe(p)
	case "in $":
		return Describe(p) + " at the top level"
	}
	return Describe(p) + " " + Printable(p.In)
}

// Describe describes what a pattern does, without its context.
func Describe(p *Pattern) string {
	switch p.Sort {
	case Move:
		if len(p.Old) == 0 {
			return "MOVE"
		}
		q := p.withoutSlotNumber()
		return "MOVE " + sideName(q.Old, q.Spaces.Old)
	case Wrap:
		return "+ " + wrapName(p)
	case Unwrap:
		return "- " + wrapName(p)
	case Fails:
		return "fails: " + withoutStatus1(p.Rest)
	case Passes:
		return "passes: " + withoutStatus1(p.Rest)
	case Renumber:
		return `"` + Printable(p.Rest) + `" renumbered`
	case Space, File, Ends:
		return Printable(p.Rest) // these keys are readable
	case Binary:
		if strings.HasPrefix(p.Rest, "binary") { // of no known format
			return Printable(p.Rest)
		}
		return "binary " + Printable(p.Rest)
	}
	if p.Sort == Edit {
		q := p.withoutSlotNumber()
		p = &q
	}
	old, now := sideName(p.Old, p.Spaces.Old), sideName(p.Now, p.Spaces.Now)
	switch {
	case p.Sort == Value && len(p.Old) > 0 && slices.Equal(p.Old, p.Now): // what differs is within strings and containers
		return "other " + old
	case old == now && len(p.Old) > 0:
		old, now = distinctNames(wholeSide(p.Old, p.Spaces.Old), wholeSide(p.Now, p.Spaces.Now))
	case len(p.Old) == 0:
		return "+ " + now
	case len(p.Now) == 0:
		return "- " + old
	}
	old, now = lookalike.Name(old, now)
	return old + " → " + now
}

// withoutStatus1 removes the exit status if it is 1, as it mostly is.
func withoutStatus1(rest string) string {
	return Printable(strings.TrimPrefix(rest, "exit 1: "))
}

// withoutSlotNumber removes the number of a slot if the pattern has only one.
func (p *Pattern) withoutSlotNumber() Pattern {
	q := Pattern{Sort: p.Sort, Old: slices.Clone(p.Old), Now: slices.Clone(p.Now), Spaces: p.Spaces}
	var slots []*Piece
	for _, side := range [...][]Piece{q.Old, q.Now} {
		for i := range side {
			if side[i].IsSlot() {
				slots = append(slots, &side[i])
			}
		}
	}
	if slices.ContainsFunc(slots, func(e *Piece) bool { return *e != *slots[0] }) {
		return *p
	}
	for _, e := range slots {
		e.Text = ""
	}
	return q
}

func wrapName(p *Pattern) string {
	return "wrap " + plainSide(p.Old, p.Spaces.Old) + "_" + plainSide(p.Now, p.Spaces.Now)
}

func sideName(side []Piece, spaces string) string {
	if len(side) == 1 {
		switch side[0].Kind {
		case token.Slot, token.Digits, token.Quoted, token.Remark, token.Length:
			return plainSide(side, spaces)
		}
	}
	return inQuotes(plainSide(side, spaces))
}

// inQuotes returns a text in quotes that it does not contain, if there are such: "…", '…' or `…`.
func inQuotes(s string) string {
	for _, q := range [...]string{`"`, "'", "`"} {
		if !strings.Contains(s, q) {
			return q + s + q
		}
	}
	return `"` + s + `"`
}

// distinctNames returns names of two sides that look equal once shortened: the first difference
// with a little around it.
func distinctNames(a, b string) (old, now string) {
	x, y := []rune(a), []rune(b)
	from := 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	from = max(0, from-nameMax/4)
	cut := func(r []rune) string {
		s := string(r[from:min(len(r), from+nameMax)])
		if from > 0 {
			s = "…" + s
		}
		if len(r) > from+nameMax {
			s += "…"
		}
		return inQuotes(s)
	}
	return cut(x), cut(y)
}

// wholeSide writes elements with the spaces that they have in the output, see spaces.
func wholeSide(side []Piece, spaces string) string {
	var b strings.Builder
	for i, e := range side {
		if i > 0 && (i < len(spaces) && spaces[i] == ' ' || i >= len(spaces) && e.Kind != token.Sign && side[i-1].Kind != token.Sign) {
			b.WriteByte(' ')
		}
		b.WriteString(pieceName(e))
	}
	return Printable(b.String())
}

// plainSide is wholeSide without the middle of a long text.
func plainSide(side []Piece, spaces string) string {
	s := wholeSide(side, spaces)
	if utf8.RuneCountInString(s) > nameMax {
		r := []rune(s)
		return string(r[:nameMax*2/3]) + "…" + string(r[len(r)-nameMax/3:])
	}
	return s
}

func pieceName(e Piece) string {
	switch e.Kind {
	case token.Quoted:
		return "STR"
	case token.Remark:
		return "TXT"
	case token.Slot:
		if e.Text == "" {
			return "WORD"
		}
		return "$" + e.Text
	case token.Digits:
		if e.Text == "" {
			return "NUMBER"
		}
		return "#" + e.Text
	case token.Inner:
		return "~" + e.Text + "~"
	}
	return e.Text
}

// Printable returns s with control characters and invalid bytes as the hex number of the byte.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isUnprintable) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case isUnprintable(r):
			fmt.Fprintf(&b, "‹%02X›", r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, "‹%02X›", s[i])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUnprintable(r rune) bool { return r < ' ' || r == 0x7f }
