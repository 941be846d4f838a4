package fileio

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// ErrName is the error of a name that no file can have.
var ErrName = errors.New("not a name that a file can have here")

// Bounds on names. On the disk one takes up to three bytes for each of its own, and a
// file's name can have 255.
const (
	nameMax    = 1024
	encodedMax = 240
	folders    = 64 // with 256 of them a disk that blocks takes a tenth fewer files a second: they lie further apart
)

// CheckName says what is wrong with a name; nil if nothing is. A name is parts with
// slashes between them, as in a/b.golden; it is text, and no part is empty, . or .. .
func CheckName(name string) error {
	reason := ""
	switch {
	case name == "":
		reason = "it is empty"
	case len(name) > nameMax:
		reason = fmt.Sprintf("it has %d bytes, and %d are possible", len(name), nameMax)
	case !utf8.ValidString(name):
		reason = "it is not UTF-8"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		reason = "it has control characters"
	}
	for part := range strings.SplitSeq(name, "/") {
		if reason == "" && (part == "" || part == "." || part == "..") {
			reason = fmt.Sprintf("a part of it is %q", part)
		}
	}
	if reason == "" {
		if n := len(encode(name)); n > encodedMax {
			reason = fmt.Sprintf("it takes %d bytes on the disk (capitals take two, and what is no letter, digit, - . or _ takes three), and %d are possible", n, encodedMax)
		}
	}
	if reason == "" {
		return nil
	}
	if len(name) > 80 {
		name = strings.ToValidUTF8(name[:80], "") + "…"
	}
	return fmt.Errorf("%q: %w: %s", name, ErrName, reason)
}

// place is where a file is: in which of the folders, and under which name there.
type place struct {
	folder int
	name   string
}

// placeOf spreads names over folders, for one with millions takes several times as long
// to rename into (the benchmark Rename of muster lab io).
func placeOf(name string) place {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	return place{int((sum ^ sum>>8 ^ sum>>16 ^ sum>>24) % folders), encode(name)}
}

const hexDigits = "0123456789abcdef"

// encode is a name as one name of the file system's, which no other has: not even one
// that differs in capitals alone, or in how its accents are written, where a system
// treats those as the same. It begins with no dot, and has no ~, which temporary files
// begin with.
func encode(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		case 'A' <= c && c <= 'Z':
			b.WriteByte('+')
			b.WriteByte(c - 'A' + 'a')
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// decode is the way back; false if nothing encodes to that.
func decode(encoded string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(encoded); i++ {
		switch c := encoded[i]; {
		case c == '+' && i+1 < len(encoded):
			i++
			b.WriteByte(encoded[i] - 'a' + 'A')
		case c == '%' && i+2 < len(encoded):
			high, low := strings.IndexByte(hexDigits, encoded[i+1]), strings.IndexByte(hexDigits, encoded[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			b.WriteByte(byte(high<<4 | low))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	name := b.String()
	return name, encode(name) == encoded && CheckName(name) == nil
}
