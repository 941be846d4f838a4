package fileio

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrName is the error of a name that no file can have.
var ErrName = errors.New("not a name that a file can have here")

// Bounds on names. An encoded name takes up to three bytes for each byte of the name. File
// systems allow 255 bytes.
const (
	nameMax    = 1024
	encodedMax = 240
	folders    = 64 // with 256, a blocking disk takes a tenth fewer files per second, because they lie further apart
)

// CheckName returns an error if a file cannot have this name. A name is UTF-8 text: parts with
// slashes between them, as in a/b.golden. No part is empty, . or .. .
func CheckName(name string) error {
	reason := ""
	switch {
	case name == "":
		reason = "it is empty"
	case len(name) > nameMax:
		reason = fmt.Sprintf("it has %d bytes, and at most %d are possible", len(name), nameMax)
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
			reason = fmt.Sprintf("it takes %d bytes on the disk (capitals take two, and characters other than letters, digits, - . and _ take three per byte), and at most %d are possible", n, encodedMax)
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

// A place is the location of a file: the index of a folder and the name in it.
type place struct {
	folder int
	name   string
}

// placeOf spreads names over the folders. Renaming a file into one folder with millions of
// files takes several times as long (benchmark Rename of muster lab io).
func placeOf(name string) place {
	sum := uint32(2166136261) // FNV-1a; hash/fnv would allocate
	for i := range len(name) {
		sum = (sum ^ uint32(name[i])) * 16777619
	}
	return place{int((sum ^ sum>>8 ^ sum>>16 ^ sum>>24) % folders), encode(name)}
}

const hexDigits = "0123456789abcdef"

// encode returns a unique file name for a name. Encoded names differ even if a file system
// ignores case or normalises accents. An encoded name does not begin with a dot, and has no ~,
// with which temporary files begin.
func encode(name string) string {
	var b strings.Builder
	b.Grow(len(name))
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

// decode reverses encode. It returns false if no name encodes to this.
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
