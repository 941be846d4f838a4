package cause

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// A piece is an element of a pattern that has been read.
type piece struct {
	kind kind
	text string // of a slot its number
}

// A sort of patterns is what the first word of each is. Like all of a key it is part of
// signatures, and stays.
type sort string

const (
	sortEdit   sort = "e"
	sortMove   sort = "m"
	sortWrap   sort = "w+" // brackets that were added around something
	sortUnwrap sort = "w-" // brackets around something that were removed
	sortSpace  sort = "s"  // whitespace
	sortFails  sort = "n"
	sortPasses sort = "p"
	sortEnds   sort = "x" // otherwise than before
	sortFile   sort = "f"
	sortBinary sort = "b" // what is no text
)

// A pattern says what edits have alike.
type pattern struct {
	sort     sort
	old, now []piece // of sorts that are of tokens; of brackets the opening and the closing half
	rest     string  // of the others
	in       string  // where it stands, if it says little by itself; see context.go
}

func (p *pattern) isEdit() bool { return p.sort == sortEdit }

// isOfTokens reports whether patterns of a sort have sides.
func (s sort) isOfTokens() bool {
	return s == sortEdit || s == sortMove || s == sortWrap || s == sortUnwrap
}

// key is that of a pattern.
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

// key is what parse reads.
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

// sideText is what pieces reads.
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

// hasWord reports whether a pattern names a word, as against signs, slots and strings.
func (p *pattern) hasWord() bool {
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			if e.kind == word || e.kind == inner && e.text != "" {
				return true
			}
		}
	}
	return false
}

// isOpen reports whether a pattern has a slot, and so stands for edits that nobody saw.
func (p *pattern) isOpen() bool {
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			if e.kind == slot || e.kind == digits {
				return true
			}
		}
	}
	return false
}

// Patterns are kept as text: what is not UTF-8 as %XX.
const hexDigits = "0123456789abcdef"

// shownKey returns a key as it is kept in Cause.Patterns.
func shownKey(key string) string {
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

// exactMax is how long a pattern may be that is kept as it is and not by its digest.
const exactMax = 200

// exactKey names one pattern and no other.
func exactKey(key string) string {
	s := shownKey(key)
	if len(s) <= exactMax {
		return "=" + s
	}
	return "#" + digestOf(key)
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// unshown undoes shownKey.
func unshown(s string) string {
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
