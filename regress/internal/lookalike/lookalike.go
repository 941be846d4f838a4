// Package lookalike finds characters that differ and print alike, such as é and e with an accent, or the Latin and
// the Cyrillic a. It is pure.
package lookalike

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"muster/regress/internal/align"
)

// Letters and signs that print as others. Curly quotes do not print as straight ones.
const (
	foreign = "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧον‐‑−‒′″‟∕∗꞉"
	usual   = "aeopcyxijshdqwABEKMHOPCTYXIJSABEZHIKMNOPTYXov---–’”“/*:"
)

var latin = func() *strings.Replacer {
	var pairs []string
	to := []rune(usual)
	for i, r := range []rune(foreign) {
		pairs = append(pairs, string(r), string(to[i]))
	}
	return strings.NewReplacer(pairs...)
}()

// BytesMax bounds the texts that are compared, both together.
const BytesMax = 64 << 10

// Find compares words that print alike but differ. It returns the offsets of their characters beyond ASCII.
func Find(old, now string) (inOld, inNow map[int]bool) {
	isForeign := func(r rune) bool { return r >= utf8.RuneSelf }
	if len(old)+len(now) > BytesMax || !strings.ContainsFunc(old, isForeign) && !strings.ContainsFunc(now, isForeign) {
		return nil, nil
	}
	inOld, inNow = map[int]bool{}, map[int]bool{}
	a, x := wordsOf(old)
	b, y := wordsOf(now)
	var i, j, oldAt, nowAt int
	aligner := align.Aligner[string]{Work: 1 << 20}
	for _, block := range append(aligner.Blocks(x, y, 500), align.Range(len(a), len(a), len(b), len(b))) {
		for ; i < block.A0; i, j = i+1, j+1 {
			if a[i] != b[j] {
				add(inOld, a[i], oldAt)
				add(inNow, b[j], nowAt)
			}
			oldAt, nowAt = oldAt+len(a[i]), nowAt+len(b[j])
		}
		oldAt, nowAt = oldAt+len(strings.Join(a[i:block.A1], "")), nowAt+len(strings.Join(b[j:block.B1], ""))
		i, j = block.A1, block.B1
	}
	return inOld, inNow
}

func add(at map[int]bool, word string, from int) {
	for i, r := range word {
		if r >= utf8.RuneSelf {
			at[from+i] = true
		}
	}
}

// wordsOf divides a text into words and single other characters, and returns how each prints.
func wordsOf(text string) (words, printed []string) {
	put := func(word string) {
		shown := norm.NFKD.String(word)
		if strings.ContainsFunc(shown, isInvisible) {
			shown = strings.Join(strings.FieldsFunc(shown, isInvisible), "")
		}
		words, printed = append(words, word), append(printed, latin.Replace(shown))
	}
	from := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		isPart := unicode.In(r, unicode.L, unicode.M, unicode.N) || isInvisible(r)
		if !isPart {
			put(text[from:at])
			from = at
		}
		at += size
		if !isPart {
			for r, size = utf8.DecodeRuneInString(text[at:]); isInvisible(r); r, size = utf8.DecodeRuneInString(text[at:]) {
				at += size
			}
			put(text[from:at])
			from = at
		}
	}
	put(text[from:])
	return words, printed
}

// isInvisible reports whether nothing is printed for a character, such as the one after ⚠ that asks for a picture.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf)
}

// Name returns both texts with code points in place of the characters of Find, as in caf‹U+00E9›.
func Name(old, now string) (oldNamed, nowNamed string) {
	inOld, inNow := Find(old, now)
	return named(old, inOld), named(now, inNow)
}

func named(text string, at map[int]bool) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if at[i] {
			b.WriteString(CodePoint(r))
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// CodePoint returns a character by its code point.
func CodePoint(r rune) string { return fmt.Sprintf("‹%U›", r) }
