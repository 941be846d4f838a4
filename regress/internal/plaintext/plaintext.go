// Package plaintext says whether a content is text, where its lines are, and how much of it two contents
// share at both ends.
//
// It is pure, and makes no copies but in SplitLines. It must not know what kind of text a content is.
package plaintext

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// sampleBytes is how much of a content is searched for bytes that are rare in text.
const sampleBytes = 8 << 10

// Is guesses whether a content is text. Text has no NUL byte. Of its first 8 KiB at most a tenth may be control
// characters other than white space, escapes and backspaces, or a fiftieth if it is not UTF-8; in UTF-8 one is
// always allowed. So texts in old encodings are text, and short binary contents are not.
func Is(content []byte) bool {
	if bytes.IndexByte(content, 0) >= 0 {
		return false
	}
	sample, controls := content[:min(len(content), sampleBytes)], 0
	for _, c := range sample {
		if c < ' ' && strings.IndexByte("\t\n\v\f\r\b\x1b", c) < 0 {
			controls++
		}
	}
	rare := 10
	whole := sample
	for cut := 1; cut < utf8.UTFMax && len(sample) < len(content); cut++ { // its end may be within a character
		if c := sample[len(sample)-cut]; utf8.RuneStart(c) {
			if !utf8.FullRune(sample[len(sample)-cut:]) {
				whole = sample[:len(sample)-cut]
			}
			break
		}
	}
	if !utf8.Valid(whole) {
		rare = 50
	}
	return controls <= 1 && rare == 10 || controls*rare <= len(sample)
}

// LineStart returns the start of the line that contains at.
func LineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// LineEnd returns the end of the line that contains at, with its newline.
func LineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// Back returns the start of the nth line before at, where a line starts, or of the first one.
func Back(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at = LineStart(text, at-1)
	}
	return at
}

// Forth returns the end of n lines from at on, where a line starts, or of the last one.
func Forth(text []byte, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		at = LineEnd(text, at)
	}
	return at
}

// SplitLines cuts text after each newline.
func SplitLines(text []byte) []string {
	lines := make([]string, 0, CountLines(text))
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
	}
	return lines
}

// CountLines counts the lines of text, including a last line without a newline.
func CountLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// stride is the step of the first loop over two contents. It runs at memory speed, which pays off for
// texts of many megabytes.
const stride = 256

// CommonPrefix returns the number of bytes with which both contents begin.
func CommonPrefix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+stride <= limit && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// CommonSuffix returns the number of bytes with which both contents end.
func CommonSuffix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+stride <= limit && bytes.Equal(a[len(a)-n-stride:len(a)-n], b[len(b)-n-stride:len(b)-n]) {
		n += stride
	}
	for n < limit && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}
