// Package readable writes bytes and numbers as people read them. It must not
// know what they mean.
package readable

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The C0 controls by their names, not by escapes such as \x1b. Sources and outputs are full of such
// escapes. Otherwise a tool that once wrote the four characters \x1b and now writes the byte would
// show no difference.
var controlNames = [...]string{
	"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
	"DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
}

// Text returns text in which nothing can control a terminal or hide. A control character becomes
// ‹ESC›, a byte that is not UTF-8 ‹9B›, and any other unprintable character ‹U+202E›. Newlines and
// tabs remain.
func Text(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			b.WriteString(Rune(r, text[i:i+size]))
		}
		i += size
	}
	return b.String()
}

// Line is Text for a single line.
func Line(text string) string {
	return strings.NewReplacer("\n", "‹LF›", "\t", "‹TAB›").Replace(Text(text))
}

// Clip returns the beginning of a text, with … if anything is left out. It keeps at most bytesMax bytes,
// and no part of a character.
func Clip(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	for bytesMax > 0 && !utf8.RuneStart(text[bytesMax]) {
		bytesMax--
	}
	return text[:bytesMax] + "…"
}

func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// Rune returns how Text shows the rune r. raw is its encoding.
func Rune(r rune, raw string) string {
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

// Number writes n with a comma after every three digits.
func Number[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Count writes "1 case", "2,000 cases".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Size writes a number of bytes: "12 bytes", "3.4 kB", "120 MB".
func Size(n int64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	units := []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	size, i := float64(n)/1000, 0
	for size >= 999.5 && i < len(units)-1 {
		size, i = size/1000, i+1
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + units[i]
}

// BinarySize writes a number of bytes in powers of 1,024: "4 KiB", "1.5 GiB". It is for memory, and
// for limits that the manual states so.
func BinarySize(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 1024 {
		return Count(n, "byte")
	}
	size, i := float64(n)/1024, 0
	for size >= 1023.95 && i < len(units)-1 {
		size, i = size/1024, i+1
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', 1, 64), ".0") + " " + units[i]
}

// Cases counts cases: "1 case" or "2,000 cases".
func Cases(cases int) string { return Count(cases, "case") }

// CasesDo counts cases as the subject of a verb: "1 case waits" or "2,000 cases wait".
func CasesDo(cases int, verb string) string {
	if cases == 1 {
		verb += "s"
	}
	return Cases(cases) + " " + verb
}

// Duration writes a duration with about two digits that matter: "340ms", "4.2s",
// "17s", "1m03s", "2h05m".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0ms"
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond).Milliseconds())
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	// Rounded first, or 59.7 s would become "60s".
	return WholeSeconds(d.Round(time.Second))
}

// WholeSeconds writes a duration that is a number of seconds: "17s", "1m03s", "2h05m".
func WholeSeconds(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}

// Rate writes a rate: "812/s", "4.2/s", "24/min". A rate that is not positive is unknown: "–/s".
func Rate(perSecond float64) string {
	switch {
	case perSecond <= 0 || math.IsNaN(perSecond) || perSecond > 1e15:
		return "–/s"
	case perSecond < 0.95:
		return strconv.FormatFloat(perSecond*60, 'f', 0, 64) + "/min"
	case perSecond < 9.95:
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return Number(int64(math.Round(perSecond))) + "/s"
}
