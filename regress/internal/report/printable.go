package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The C0 controls as people know them. Names, and not the usual \x1b, because
// sources and outputs are full of that notation: a tool that once wrote the
// four characters \x1b and now writes the byte would seem to differ in nothing.
var controlNames = [...]string{
	"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
	"DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
}

// Printable returns text in which nothing can drive a terminal or hide: a
// control character becomes ‹ESC›, a byte that is not UTF-8 ‹9B›, any other
// character that does not print ‹U+202E›. Newlines and tabs stay.
func Printable(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			b.WriteString(visible(r, text[i:i+size]))
		}
		i += size
	}
	return b.String()
}

// PrintableLine is Printable for what must stay one line.
func PrintableLine(text string) string {
	return strings.NewReplacer("\n", "‹LF›", "\t", "‹TAB›").Replace(Printable(text))
}

func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// visible returns how the rune r, decoded from raw, is shown.
func visible(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf("‹%02X›", raw[0])
	case unicode.IsPrint(r):
		return raw
	case int(r) < len(controlNames):
		return "‹" + controlNames[r] + "›"
	case r == 0x7f:
		return "‹DEL›"
	}
	return fmt.Sprintf("‹%U›", r)
}
