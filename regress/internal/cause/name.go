package cause

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// nameMax is how many characters of one side of a pattern its name has.
const nameMax = 60

// nameOf returns what a pattern is called.
func nameOf(p *pattern) string {
	if p.in != "" {
		return does(p) + " " + printable(p.in)
	}
	return does(p)
}

// does says what a pattern does, wherever it stands.
func does(p *pattern) string {
	switch p.sort {
	case sortMove:
		if len(p.old) == 0 {
			return "MOVE"
		}
		q := p.anonymous()
		return "MOVE " + sideName(q.old)
	case sortWrap:
		return "+ " + wrapName(p)
	case sortUnwrap:
		return "- " + wrapName(p)
	case sortFails:
		return "fails: " + said(p.rest)
	case sortPasses:
		return "passes: " + said(p.rest)
	case sortSpace, sortFile, sortEnds:
		return printable(p.rest) // what keys say of these is fit to be read
	case sortBinary:
		return "binary " + printable(p.rest)
	}
	if p.sort == sortEdit {
		q := p.anonymous()
		p = &q
	}
	old, now := sideName(p.old), sideName(p.now)
	switch {
	case old == now && len(p.old) > 0:
		old, now = apartNames(wholeSide(p.old), wholeSide(p.now))
	case len(p.old) == 0:
		return "+ " + now
	case len(p.now) == 0:
		return "- " + old
	}
	return old + " → " + now
}

// said leaves the exit status out where it is 1, as it is for most.
func said(rest string) string {
	return printable(strings.TrimPrefix(rest, "exit 1: "))
}

// anonymous leaves the number out of a slot that is the only one: there is nothing that it
// is to be told from.
func (p *pattern) anonymous() pattern {
	q := pattern{sort: p.sort, old: slices.Clone(p.old), now: slices.Clone(p.now)}
	var slots []*piece
	for _, side := range [...][]piece{q.old, q.now} {
		for i := range side {
			if e := &side[i]; e.kind == slot || e.kind == digits {
				slots = append(slots, e)
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
	return "wrap " + plainSide(p.old) + "_" + plainSide(p.now)
}

func sideName(side []piece) string {
	if len(side) == 1 {
		switch side[0].kind {
		case slot, digits, quoted, remark, length:
			return plainSide(side)
		}
	}
	return `"` + plainSide(side) + `"`
}

// apartNames are those of two sides that differ where they are too long to be shown: what
// differs, with a little around it.
func apartNames(a, b string) (old, now string) {
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
		return `"` + s + `"`
	}
	return cut(x), cut(y)
}

// wholeSide writes elements as one would type them.
func wholeSide(side []piece) string {
	var b strings.Builder
	for i, e := range side {
		s := pieceName(e)
		if i > 0 && spaced(side[i-1], e) && !isTight(side, i) {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return printable(b.String())
}

// plainSide is wholeSide, without its middle where it is long.
func plainSide(side []piece) string {
	s := wholeSide(side)
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
	case run:
		var b strings.Builder
		for one := range strings.SplitSeq(strings.TrimSuffix(e.text, "\x1f"), "\x1f") {
			if one != "" {
				b.WriteString(pieceName(piece{kind(one[0]), one[1:]}))
			}
		}
		return "(" + b.String() + ")*"
	}
	return e.text
}

// Signs behind which, and before which, a name has no space, as in what most languages have:
// a.b, f(x), x[i], !x, $x, a::b, p->q, x?.y, //TXT. A sign counts if it is anywhere in the
// text, so that one of ->, - or >, does too.
const (
	tightBehind = "([{.::!~@$->#?.//"
	tightBefore = ")]}.::,;([->?.:"
)

// spaced reports whether a name has a space between two elements.
func spaced(a, b piece) bool {
	if a.kind != sign && b.kind != sign {
		return a.kind != number || b.kind != word
	}
	if a.kind == sign && strings.Contains(tightBehind, a.text) || b.kind == sign && strings.Contains(tightBefore, b.text) {
		return a.kind == sign && strings.Contains(",;", a.text)
	}
	return true
}

// isTight reports whether an element belongs close to the one before it for what else
// there is: <stdio.h> and []int, as against a < b and a[1] and.
func isTight(side []piece, i int) bool {
	a := side[i-1].text
	return a == "<" && i+1 < len(side) && side[i+1].text == ">" || a == "]" && side[0].text == "["
}

// printable returns s with what is no character, or a control, as the number of its byte.
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
