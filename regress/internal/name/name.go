// Package name cleans, prints, lists and reads the names of cases and files, and quotes words for a
// shell. A name is the cleaned, slash-separated path of a file below the root of its corpus, as raw
// bytes in a Go string. File systems and archives hold names that are not UTF-8, and muster keeps
// them as they are.
//
// It must not touch a disk, nor know whether a file of that name exists.
package name

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Limits of a name, in bytes: those of Linux.
const (
	partBytesMax = 255
	pathBytesMax = 4096
)

// Clean returns muster's form of a path from an archive or a user: without "./", and without
// doubled or trailing slashes. It refuses a path that cannot be a file below the root: empty,
// absolute, leading outside, with a NUL byte, or longer than the kernel allows.
func Clean(raw string) (string, error) {
	switch {
	case raw == "":
		return "", errors.New("empty name")
	case strings.IndexByte(raw, 0) >= 0:
		return "", fmt.Errorf("name %s holds a NUL byte", Print(raw))
	case raw[0] == '/':
		return "", fmt.Errorf("absolute name %s", Print(raw))
	}
	clean := path.Clean(raw)
	if clean == "." {
		return "", fmt.Errorf("name %s is the root itself", Print(raw))
	}
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("name %s leads outside", Print(raw))
	}
	return clean, checkLength(clean)
}

func checkLength(clean string) error {
	if len(clean) >= pathBytesMax {
		return fmt.Errorf("name of %d bytes is longer than %d", len(clean), pathBytesMax-1)
	}
	for part := range strings.SplitSeq(clean, "/") {
		if len(part) > partBytesMax {
			return fmt.Errorf("name %.40s… has a part of %d bytes, more than %d", Print(part), len(part), partBytesMax)
		}
	}
	return nil
}

// Print returns the printable form of a name. Bytes that are not UTF-8, control characters and '%'
// become %XX. So the form is one line and safe on a terminal, and Parse returns the name.
func Print(raw string) string {
	if isPlain(raw) {
		return raw
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		if isHidden(r, size) {
			for _, c := range []byte(raw[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(raw[i : i+size])
		}
		i += size
	}
	return b.String()
}

func isPlain(raw string) bool {
	for i := range len(raw) {
		if raw[i] < 0x20 || raw[i] >= 0x7f || raw[i] == '%' {
			return false
		}
	}
	return true
}

// isHidden reports whether a decoded rune must not reach a terminal: damaged UTF-8, C0 and C1
// controls, '%' itself, the line and paragraph separators, and the marks that reverse the direction
// of text.
func isHidden(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return true
	case r < 0x20, r == '%', r >= 0x7f && r < 0xa0:
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	case r >= 0x200e && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// Parse reads the printable form. A '%' without two hex digits is an error: people and scripts
// write names, and a guess would select another case.
func Parse(printed string) (string, error) {
	if strings.IndexByte(printed, '%') < 0 {
		return printed, nil
	}
	var b strings.Builder
	for i := 0; i < len(printed); i++ {
		if printed[i] != '%' {
			b.WriteByte(printed[i])
			continue
		}
		if i+2 >= len(printed) {
			return "", fmt.Errorf("name %q ends inside a %%XX", printed)
		}
		hi, lo := unhex(printed[i+1]), unhex(printed[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("name %q: %q is not %%XX (a '%%' itself is written %%25)", printed, printed[i:i+3])
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
