// Package scan cuts paths and the texts of /proc into their parts.
//
// The lane helper uses this package instead of strings and bytes. They depend on unicode, which Go
// initialises after os. With them, the helper would be taken over only when half the program is
// initialised.
package scan

import "unicode/utf8"

// Text is a string, or bytes.
type Text interface{ ~string | ~[]byte }

// Index returns the index of the first c, or -1.
func Index[T Text](s T, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// LastIndex returns the index of the last c, or -1.
func LastIndex[T Text](s T, c byte) int {
	i := len(s) - 1
	for i >= 0 && s[i] != c {
		i--
	}
	return i
}

// Cut returns the text before and after the first c. Without a c, all of s is before.
func Cut[T Text](s T, c byte) (before, after T, found bool) {
	if i := Index(s, c); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, s[len(s):], false
}

// Split yields the parts of s that c separates.
func Split[T Text](s T, c byte) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for found := true; found; {
			var part T
			if part, s, found = Cut(s, c); !yield(part) {
				return
			}
		}
	}
}

// Fields yields the words of s, between blanks, tabs and ends of lines.
func Fields[T Text](s T) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for at := 0; at < len(s); at++ {
			from := at
			for at < len(s) && s[at] > ' ' {
				at++
			}
			if from < at && !yield(s[from:at]) {
				return
			}
		}
	}
}

// HasPrefix reports whether s begins with prefix.
func HasPrefix[T Text](s T, prefix string) bool {
	return len(s) >= len(prefix) && string(s[:len(prefix)]) == prefix
}

// HasSuffix reports whether s ends with suffix.
func HasSuffix[T Text](s T, suffix string) bool {
	return len(s) >= len(suffix) && string(s[len(s)-len(suffix):]) == suffix
}

// CutPrefix returns what follows the prefix, if s begins with it.
func CutPrefix[T Text](s T, prefix string) (after T, found bool) {
	if !HasPrefix(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// Contains reports whether part is in s.
func Contains[T Text](s T, part string) bool {
	for i := range len(s) - len(part) + 1 {
		if HasPrefix(s[i:], part) {
			return true
		}
	}
	return false
}

// Valid returns s with a question mark for each run of bytes that are not UTF-8.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var kept []byte
	for bad := false; s != ""; {
		r, n := utf8.DecodeRuneInString(s)
		switch was := bad; {
		case r != utf8.RuneError || n > 1:
			kept, bad = append(kept, s[:n]...), false
		case !was:
			kept, bad = append(kept, '?'), true
		}
		s = s[n:]
	}
	return string(kept)
}
