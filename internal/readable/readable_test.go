package readable

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text\twith a tab\n", "plain text\twith a tab\n"},
		{"\x1b[31mred\x1b[0m", "‹ESC›[31mred‹ESC›[0m"},
		{"a\r\nb\x00\x07\x7f", "a‹CR›\nb‹NUL›‹BEL›‹DEL›"},
		{"caf\xe9 \x9b2J", "caf‹E9› ‹9B›2J"},                             // Latin-1, and the one-byte CSI
		{"\u0085\u202egnp.exe", "‹U+0085›‹U+202E›gnp.exe"},               // C1, right-to-left override
		{"\u200b\ufeff\u2028\u00a0", "‹U+200B›‹U+FEFF›‹U+2028›‹U+00A0›"}, // what cannot be seen
		{"日本語 é ≥", "日本語 é ≥"},
		{`\x1b[31m`, `\x1b[31m`}, // as text is not what it is as a byte
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Line("a\tb\n"); got != "a‹TAB›b‹LF›" {
		t.Errorf("Line = %q", got)
	}
}

func TestTextNeverDrivesATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "in")) + rapid.String().Draw(t, "runes")
		got := Text(in)
		checkHarmless(t, got)
		if again := Text(got); again != got {
			t.Fatalf("Text(%q) = %q is not stable: %q", in, got, again)
		}
	})
}

// checkHarmless fails when text holds anything but printable characters,
// newlines and tabs.
func checkHarmless(t interface{ Fatalf(string, ...any) }, text string) {
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e
	}); i >= 0 {
		t.Fatalf("%q at byte %d of %q", text[i], i, text)
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 12: "12", 999: "999", 1000: "1,000", 15000: "15,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestBinarySize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1,023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1 MiB",
		64 << 30: "64 GiB", 1 << 40: "1 TiB", math.MaxInt64: "8 EiB",
	} {
		if got := BinarySize(n); got != want {
			t.Errorf("BinarySize(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd…", "abcé": "abc…", "éé": "éé"} {
		if got := Clip(text, 4); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
