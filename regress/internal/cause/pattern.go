package cause

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A piece is a parsed element of a pattern.
type piece struct {
	kind kind
	text string // for a slot its number
}

// A sort is the first word of a pattern's key. Keys are part of signatures, so sorts must not
// change.
type sort string

const (
	sortEdit     sort = "e"
	sortMove     sort = "m"
	sortWrap     sort = "w+" // brackets were added around something
	sortUnwrap   sort = "w-" // brackets around something were removed
	sortSpace    sort = "s"  // whitespace
	sortRenumber sort = "r"  // numbers of generated names shifted
	sortFails    sort = "n"
	sortPasses   sort = "p"
	sortEnds     sort = "x" // a different ending
	sortFile     sort = "f"
	sortBinary   sort = "b" // contents that are not text
)

// A pattern is what edits have in common.
type pattern struct {
	sort     sort
	old, now []piece // of sorts with tokens; for brackets the opening and the closing half
	rest     string  // of the other sorts
	in       string  // where it stands, if it says little by itself; see context.go
	spaces   spaces  // for its name
}

func (p *pattern) isEdit() bool { return p.sort == sortEdit }

// isOfTokens reports whether patterns of a sort have two sides of tokens.
func (s sort) isOfTokens() bool {
	return s == sortEdit || s == sortMove || s == sortWrap || s == sortUnwrap
}

// key returns the key of a pattern with the given rest.
func (s sort) key(rest string) string { return string(s) + " " + rest }

// sortOf returns the sort of a key.
func sortOf(key string) sort {
	s, _, _ := strings.Cut(key, " ")
	return sort(s)
}

func parse(key string) pattern {
	first, rest, _ := strings.Cut(key, " ")
	of := sort(first)
	if !of.isOfTokens() {
		if of != sortSpace {
			return pattern{sort: of, rest: rest}
		}
		rest, in, _ := strings.Cut(rest, "\t")
		return pattern{sort: of, rest: rest, in: in}
	}
	old, rest, _ := strings.Cut(rest, "\t")
	now, in, _ := strings.Cut(rest, "\t")
	return pattern{sort: of, old: pieces(old), now: pieces(now), in: in}
}

func pieces(side string) []piece {
	if side == "" {
		return nil
	}
	list := make([]piece, 0, strings.Count(side, " ")+1)
	for side != "" {
		var one string
		one, side, _ = strings.Cut(side, " ")
		if one != "" {
			list = append(list, piece{kind(one[0]), one[1:]})
		}
	}
	return list
}

// key returns the text that parse reads.
func (p *pattern) key() string {
	rest := p.rest
	if p.sort.isOfTokens() {
		rest = sideText(p.old) + "\t" + sideText(p.now)
	}
	if p.in != "" {
		rest += "\t" + p.in
	}
	return p.sort.key(rest)
}

// sideText returns the text that pieces reads.
func sideText(side []piece) string {
	var b strings.Builder
	for i, e := range side {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(byte(e.kind))
		b.WriteString(e.text)
	}
	return b.String()
}

// has reports whether an element of a pattern is such.
func (p *pattern) has(is func(piece) bool) bool {
	return slices.ContainsFunc(p.old, is) || slices.ContainsFunc(p.now, is)
}

// hasWord reports whether a pattern contains a word, besides signs, slots and strings.
func (p *pattern) hasWord() bool {
	return p.has(func(e piece) bool { return e.kind == word || e.kind == inner && e.text != "" })
}

// isOpen reports whether a pattern has a slot, and so also stands for edits that did not occur.
func (p *pattern) isOpen() bool { return p.has(piece.isSlot) }

func (e piece) isSlot() bool { return e.kind == slot || e.kind == digits }

// Stored patterns are text. Bytes that are not UTF-8 become %XX.
const hexDigits = "0123456789abcdef"

// escapeKey returns a key in the form of Cause.Patterns.
func escapeKey(key string) string {
	if utf8.ValidString(key) && !strings.Contains(key, "%") && !strings.ContainsFunc(key, isControl) {
		return key
	}
	var b strings.Builder
	for i := 0; i < len(key); {
		r, size := utf8.DecodeRuneInString(key[i:])
		if r == utf8.RuneError && size == 1 || r == '%' || isControl(r) {
			b.WriteByte('%')
			b.WriteByte(hexDigits[key[i]>>4])
			b.WriteByte(hexDigits[key[i]&15])
			i++
			continue
		}
		b.WriteString(key[i : i+size])
		i += size
	}
	return b.String()
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// exactMax is the longest pattern that is stored as it is. Of a longer one the digest is stored.
const exactMax = 200

// exactKey identifies exactly one pattern.
func exactKey(key string) string {
	s := escapeKey(key)
	if len(s) <= exactMax {
		return "=" + s
	}
	return "#" + digestOf(key)
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// unescapeKey reverses escapeKey.
func unescapeKey(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := strings.IndexByte(hexDigits, s[i+1]), strings.IndexByte(hexDigits, s[i+2])
			if hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// matches reports whether the elements begin with those of a side. Slots that are already filled
// must match their contents.
func matches(side, es []piece, slots []piece) ([]piece, bool) {
	if len(side) > len(es) {
		return slots, false
	}
	for i, s := range side {
		if !s.isSlot() {
			if s != es[i] {
				return slots, false
			}
			continue
		}
		if (s.kind == slot) != (es[i].kind == word) || (s.kind == digits) != (es[i].kind == number) {
			return slots, false
		}
		n, _ := strconv.Atoi(s.text)
		for len(slots) < n {
			slots = append(slots, piece{})
		}
		if slots[n-1].kind == 0 {
			slots[n-1] = es[i]
		} else if slots[n-1] != es[i] {
			return slots, false
		}
	}
	return slots, true
}

// fits reports whether both sides begin with those of a pattern.
func (p *pattern) fits(old, now []piece) bool {
	slots, ok := matches(p.old, old, nil)
	if ok {
		_, ok = matches(p.now, now, slots)
	}
	return ok
}

// isShape reports whether the shape t stands for the pattern p.
func isShape(t, p *pattern) bool {
	return t.sort == p.sort && t.in == p.in && len(t.old) == len(p.old) && len(t.now) == len(p.now) && t.fits(p.old, p.now)
}
