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

// The sorts of patterns: what the first word of each is.
const (
	sortEdit   = "e"
	sortMove   = "m"
	sortWrap   = "w+" // brackets that were added around something
	sortUnwrap = "w-" // brackets around something that were removed
	sortSpace  = "s"  // whitespace
	sortFails  = "n"
	sortPasses = "p"
	sortEnds   = "x" // otherwise than before
	sortFile   = "f"
	sortBinary = "b" // what is no text
)

// A pattern says what edits have alike.
type pattern struct {
	sort     string
	old, now []piece // of sorts that are of tokens; of brackets the opening and the closing half
	rest     string  // of the others
	in       string  // where it stands, if it says little by itself; see context.go
}

func (p *pattern) isEdit() bool { return p.sort == sortEdit }

// isOfTokens reports whether it has sides.
func isOfTokens(sort string) bool {
	return sort == sortEdit || sort == sortMove || sort == sortWrap || sort == sortUnwrap
}

func parse(key string) pattern {
	sort, rest, _ := strings.Cut(key, " ")
	if !isOfTokens(sort) {
		if sort != sortSpace {
			return pattern{sort: sort, rest: rest}
		}
		rest, in, _ := strings.Cut(rest, "\t")
		return pattern{sort: sort, rest: rest, in: in}
	}
	old, rest, _ := strings.Cut(rest, "\t")
	now, in, _ := strings.Cut(rest, "\t")
	return pattern{sort: sort, old: pieces(old), now: pieces(now), in: in}
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
	if !isOfTokens(p.sort) {
		if p.in != "" {
			return p.sort + " " + p.rest + "\t" + p.in
		}
		return p.sort + " " + p.rest
	}
	key := p.sort + " " + sideText(p.old) + "\t" + sideText(p.now)
	if p.in != "" {
		key += "\t" + p.in
	}
	return key
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

// shown returns a key as it is kept in Cause.Patterns.
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
