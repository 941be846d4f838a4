package cause

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// nameMax is the number of characters that a name shows of one side.
const nameMax = 60

// nameOf returns the name of a pattern.
func nameOf(p *pattern) string {
	if p.in != "" {
		return describePattern(p) + " " + printable(p.in)
	}
	return describePattern(p)
}

// describePattern describes what a pattern does, without its context.
func describePattern(p *pattern) string {
	switch p.sort {
	case sortMove:
		if len(p.old) == 0 {
			return "MOVE"
		}
		q := p.withoutSlotNumber()
		return "MOVE " + sideName(q.old, q.spaces.old)
	case sortWrap:
		return "+ " + wrapName(p)
	case sortUnwrap:
		return "- " + wrapName(p)
	case sortFails:
		return "fails: " + withoutStatus1(p.rest)
	case sortPasses:
		return "passes: " + withoutStatus1(p.rest)
	case sortRenumber:
		return `"` + printable(p.rest) + `" renumbered`
	case sortSpace, sortFile, sortEnds:
		return printable(p.rest) // these keys are readable
	case sortBinary:
		return "binary " + printable(p.rest)
	}
	if p.sort == sortEdit {
		q := p.withoutSlotNumber()
		p = &q
	}
	old, now := sideName(p.old, p.spaces.old), sideName(p.now, p.spaces.now)
	switch {
	case old == now && len(p.old) > 0:
		old, now = distinctNames(wholeSide(p.old, p.spaces.old), wholeSide(p.now, p.spaces.now))
	case len(p.old) == 0:
		return "+ " + now
	case len(p.now) == 0:
		return "- " + old
	}
	return old + " → " + now
}

// withoutStatus1 removes the exit status if it is 1, as it mostly is.
func withoutStatus1(rest string) string {
	return printable(strings.TrimPrefix(rest, "exit 1: "))
}

// withoutSlotNumber removes the number of a slot if the pattern has only one.
func (p *pattern) withoutSlotNumber() pattern {
	q := pattern{sort: p.sort, old: slices.Clone(p.old), now: slices.Clone(p.now), spaces: p.spaces}
	var slots []*piece
	for _, side := range [...][]piece{q.old, q.now} {
		for i := range side {
			if side[i].isSlot() {
				slots = append(slots, &side[i])
			}
		}
	}
	if slices.ContainsFunc(slots, func(e *piece) bool { return *e != *slots[0] }) {
		return *p
	}
	for _, e := range slots {
		e.text = ""
	}
	return q
}

func wrapName(p *pattern) string {
	return "wrap " + plainSide(p.old, p.spaces.old) + "_" + plainSide(p.now, p.spaces.now)
}

func sideName(side []piece, spaces string) string {
	if len(side) == 1 {
		switch side[0].kind {
		case slot, digits, quoted, remark, length:
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
func wholeSide(side []piece, spaces string) string {
	var b strings.Builder
	for i, e := range side {
		if i > 0 && (i < len(spaces) && spaces[i] == ' ' || i >= len(spaces) && e.kind != sign && side[i-1].kind != sign) {
			b.WriteByte(' ')
		}
		b.WriteString(pieceName(e))
	}
	return printable(b.String())
}

// plainSide is wholeSide without the middle of a long text.
func plainSide(side []piece, spaces string) string {
	s := wholeSide(side, spaces)
	if utf8.RuneCountInString(s) > nameMax {
		r := []rune(s)
		return string(r[:nameMax*2/3]) + "…" + string(r[len(r)-nameMax/3:])
	}
	return s
}

func pieceName(e piece) string {
	switch e.kind {
	case quoted:
		return "STR"
	case remark:
		return "TXT"
	case slot:
		if e.text == "" {
			return "WORD"
		}
		return "$" + e.text
	case digits:
		if e.text == "" {
			return "NUMBER"
		}
		return "#" + e.text
	case inner:
		return "~" + e.text + "~"
	}
	return e.text
}

// printable returns s with control characters and invalid bytes as the hex number of the byte.
func printable(s string) string {
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
