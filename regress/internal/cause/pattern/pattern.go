// Package pattern has what edits have in common: the pattern, its key, and its name for people. A key is
// text, and part of what runs keep.
//
// It is pure. It must not know texts, nor cases: package edit makes patterns of edits, and package cause
// makes causes of patterns.
package pattern

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/regress/internal/cause/token"
)

// A Piece is a parsed element of a pattern.
type Piece struct {
	Kind token.Kind
	Text string // for a slot its number
}

// A Sort is the first word of a pattern's key. Keys are part of signatures, so sorts must not
// change.
type Sort string

const (
	Edit     Sort = "e"
	Move     Sort = "m"
	Wrap     Sort = "w+" // brackets were added around something
	Unwrap   Sort = "w-" // brackets around something were removed
	Value    Sort = "v"  // a value of a document, or its items; its context is the path
	Space    Sort = "s"  // whitespace
	Renumber Sort = "r"  // numbers of generated names shifted
	Fails    Sort = "n"
	Passes   Sort = "p"
	Ends     Sort = "x" // a different ending
	File     Sort = "f"
	Binary   Sort = "b" // contents that are not text
)

// A Pattern is what edits have in common.
type Pattern struct {
	Sort     Sort
	Old, Now []Piece // of sorts with tokens; for brackets the opening and the closing half
	Rest     string  // of the other sorts
	In       string  // where it stands, if it says little by itself; see package edit
	Spaces   Spaces  // for its name
}

// IsEdit reports whether a pattern is of an edit of tokens at one place.
func (p *Pattern) IsEdit() bool { return p.Sort == Edit }

// IsOfTokens reports whether patterns of a sort have two sides of tokens.
func (s Sort) IsOfTokens() bool {
	return s == Edit || s == Value || s == Move || s == Wrap || s == Unwrap
}

// Key returns the key of a pattern with the given rest.
func (s Sort) Key(rest string) string { return string(s) + " " + rest }

// SortOf returns the sort of a key.
func SortOf(key string) Sort {
	s, _, _ := strings.Cut(key, " ")
	return Sort(s)
}

// Parse returns the pattern of a key. It takes any text.
func Parse(key string) Pattern {
	first, rest, _ := strings.Cut(key, " ")
	of := Sort(first)
	if !of.IsOfTokens() {
		if of != Space {
			return Pattern{Sort: of, Rest: rest}
		}
		rest, in, _ := strings.Cut(rest, "\t")
		return Pattern{Sort: of, Rest: rest, In: in}
	}
	old, rest, _ := strings.Cut(rest, "\t")
	now, in, _ := strings.Cut(rest, "\t")
	return Pattern{Sort: of, Old: pieces(old), Now: pieces(now), In: in}
}

func pieces(side string) []Piece {
	if side == "" {
		return nil
	}
	list := make([]Piece, 0, strings.Count(side, " ")+1)
	for side != "" {
		var one string
		one, side, _ = strings.Cut(side, " ")
		if one != "" {
			list = append(list, Piece{token.Kind(one[0]), one[1:]})
		}
	}
	return list
}

// Key returns the text that Parse reads.
func (p *Pattern) Key() string {
	rest := p.Rest
	if p.Sort.IsOfTokens() {
		rest = sideText(p.Old) + "\t" + sideText(p.Now)
	}
	if p.In != "" {
		rest += "\t" + p.In
	}
	return p.Sort.Key(rest)
}

// sideText returns the text that pieces reads.
func sideText(side []Piece) string {
	var b strings.Builder
	for i, e := range side {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(byte(e.Kind))
		b.WriteString(e.Text)
	}
	return b.String()
}

// has reports whether an element of a pattern is such.
func (p *Pattern) has(is func(Piece) bool) bool {
	return slices.ContainsFunc(p.Old, is) || slices.ContainsFunc(p.Now, is)
}

// HasWord reports whether a pattern contains a word, besides signs, slots and strings.
func (p *Pattern) HasWord() bool {
	return p.has(func(e Piece) bool { return e.Kind == token.Word || e.Kind == token.Inner && e.Text != "" })
}

// IsOpen reports whether a pattern has a slot, and so also stands for edits that did not occur.
func (p *Pattern) IsOpen() bool { return p.has(Piece.IsSlot) }

// IsSlot reports whether an element stands for any word or number.
func (e Piece) IsSlot() bool { return e.Kind == token.Slot || e.Kind == token.Digits }

// Stored patterns are text. Bytes that are not UTF-8 become %XX.
const hexDigits = "0123456789abcdef"

// EscapeKey returns a key in the form of Cause.Patterns.
func EscapeKey(key string) string {
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

// ExactKey identifies exactly one pattern.
func ExactKey(key string) string {
	s := EscapeKey(key)
	if len(s) <= exactMax {
		return "=" + s
	}
	return "#" + DigestOf(key)
}

// DigestOf returns a short digest, for keys and signatures.
func DigestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// UnescapeKey reverses EscapeKey.
func UnescapeKey(s string) string {
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
func matches(side, es []Piece, slots []Piece) ([]Piece, bool) {
	if len(side) > len(es) {
		return slots, false
	}
	for i, s := range side {
		if !s.IsSlot() {
			if s != es[i] {
				return slots, false
			}
			continue
		}
		if (s.Kind == token.Slot) != (es[i].Kind == token.Word) || (s.Kind == token.Digits) != (es[i].Kind == token.Number) {
			return slots, false
		}
		n, _ := strconv.Atoi(s.Text)
		for len(slots) < n {
			slots = append(slots, Piece{})
		}
		if slots[n-1].Kind == 0 {
			slots[n-1] = es[i]
		} else if slots[n-1] != es[i] {
			return slots, false
		}
	}
	return slots, true
}

// Fits reports whether both sides begin with those of a pattern.
func (p *Pattern) Fits(old, now []Piece) bool {
	slots, ok := matches(p.Old, old, nil)
	if ok {
		_, ok = matches(p.Now, now, slots)
	}
	return ok
}

// IsShape reports whether the shape t stands for the pattern p.
func IsShape(t, p *Pattern) bool {
	return t.Sort == p.Sort && t.In == p.In && len(t.Old) == len(p.Old) && len(t.Now) == len(p.Now) && t.Fits(p.Old, p.Now)
}

// Spaces has for each element of both sides of a pattern a space if one stands before it, else a dot.
type Spaces struct{ Old, Now string }

// First returns the first element of a pattern. Its kind is 0 if the pattern is empty.
func (p *Pattern) First() Piece {
	if len(p.Old) > 0 {
		return p.Old[0]
	}
	if len(p.Now) > 0 {
		return p.Now[0]
	}
	return Piece{}
}

// Bare returns the key of a pattern with a slot in place of each word and number.
func (p *Pattern) Bare() string {
	bare := func(side []Piece) []Piece {
		side = slices.Clone(side)
		for i, e := range side {
			switch e.Kind {
			case token.Word, token.Slot:
				side[i] = Piece{Kind: token.Slot}
			case token.Number, token.Digits:
				side[i] = Piece{Kind: token.Digits}
			}
		}
		return side
	}
	q := *p
	q.Old, q.Now = bare(p.Old), bare(p.Now)
	return q.Key()
}

// HasSoundSlots reports whether each slot has a valid number, from 1 to most.
func (p *Pattern) HasSoundSlots(most int) bool {
	return !p.has(func(e Piece) bool {
		if !e.IsSlot() {
			return false
		}
		n, err := strconv.Atoi(e.Text)
		return err != nil || n < 1 || n > most || strconv.Itoa(n) != e.Text
	})
}

// IsBare reports whether a pattern consists of slots alone.
func (p *Pattern) IsBare() bool {
	isSlot := func(e Piece) bool { return e.Kind == token.Slot || e.Kind == token.Digits }
	return !slices.ContainsFunc(p.Old, func(e Piece) bool { return !isSlot(e) }) && !slices.ContainsFunc(p.Now, func(e Piece) bool { return !isSlot(e) })
}

// CountSigns counts the signs other than comma and dot.
func (p *Pattern) CountSigns() (n int) {
	for _, e := range slices.Concat(p.Old, p.Now) {
		if e.Kind == token.Sign && e.Text != "," && e.Text != "." {
			n++
		}
	}
	return n
}

// NeedsContext reports whether a pattern says little by itself, so that it may have a context.
func NeedsContext(p *Pattern) bool {
	if p.Sort == Space {
		return true
	}
	if p.has(func(e Piece) bool { return e.Kind != token.Sign }) {
		return false
	}
	return p.Sort != Move && (p.Sort != Edit || len(p.Old) == 0 || len(p.Now) == 0)
}

// IsBracket reports whether an edit adds or removes one bracket and nothing else.
func IsBracket(p Pattern) bool {
	if !p.IsEdit() {
		return false
	}
	side := slices.Concat(p.Old, p.Now)
	return len(side) == 1 && side[0].Kind == token.Sign && len(side[0].Text) == 1 && strings.Contains("()[]{}", side[0].Text)
}

// OtherNeighbour stands before the second of two neighbours, and in no other context.
const OtherNeighbour = "\t"

// Contexts of edits in comments and strings.
const (
	InComment = "in TXT"
	InString  = "in STR"
)
