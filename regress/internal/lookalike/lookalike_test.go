package lookalike

import (
	"testing"
	"unicode/utf8"
)

func TestName(t *testing.T) {
	for _, c := range []struct{ old, now, wantOld, wantNow string }{
		{"caf\u00e9", "cafe\u0301", "caf‹U+00E9›", "cafe‹U+0301›"},
		{"let p\u0430y = 1;", "let pay = 2;", "let p‹U+0430›y = 1;", "let pay = 2;"},
		{"a \u2212 b", "a - b", "a ‹U+2212› b", "a - b"},
		{"x\u2019s", "x\u2032s", "x‹U+2019›s", "x‹U+2032›s"},
		{"‘x’", "'x'", "‘x’", "'x'"},
		{"\uff21 \ufb01t", "A fit", "‹U+FF21› ‹U+FB01›t", "A fit"},
		{"\u0391", "\u0410", "‹U+0391›", "‹U+0410›"},
		{"x: café\ny: na\u00efve\n", "new\nx: café\ny: nai\u0308ve\n", "x: café\ny: na‹U+00EF›ve\n", "new\nx: café\ny: nai‹U+0308›ve\n"},
		{"\u26a0 x", "\u26a0\ufe0f x", "‹U+26A0› x", "‹U+26A0›‹U+FE0F› x"},
		{"né\u034fe", "née", "n‹U+00E9›‹U+034F›e", "n‹U+00E9›e"},
		{"a \u2215 b", "a / b", "a ‹U+2215› b", "a / b"},
		{"café", "cafe", "café", "cafe"},           // without the accent it prints otherwise
		{"мама мыла", "mama", "мама мыла", "mama"}, // another word
		{"café", "café", "café", "café"},
		{"\xe9\xff \u0430", "\xe9 a", "\xe9\xff ‹U+0430›", "\xe9 a"},
	} {
		old, now := Name(c.old, c.now)
		if old != c.wantOld || now != c.wantNow {
			t.Errorf("%q, %q: %q, %q", c.old, c.now, old, now)
		}
	}
}

// Each character has another one in its place.
func TestTable(t *testing.T) {
	if utf8.RuneCountInString(foreign) != utf8.RuneCountInString(usual) {
		t.Fatal("the lists are of different lengths")
	}
}
