package diff

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// An excerpt is the part of two texts in which they differ, cut at line boundaries, with a few
// equal lines around it. The rest is equal and need not be split into lines. So large texts with
// few changes are cheap.
type excerpt struct {
	old, now []byte
	before   int // lines left out before
	start    int // bytes left out before
}

func newExcerpt(old, now []byte, context int) excerpt {
	head := commonPrefix(old, now)
	if head == len(old) && head == len(now) {
		return excerpt{}
	}
	head = bytes.LastIndexByte(old[:head], '\n') + 1
	tail := commonSuffix(old[head:], now[head:])
	// The tail begins within a line. Keep the text after the first newline.
	if i := bytes.IndexByte(old[len(old)-tail:], '\n'); i >= 0 {
		tail -= i + 1
	} else {
		tail = 0
	}
	for range context {
		if head > 0 {
			head = bytes.LastIndexByte(old[:head-1], '\n') + 1
		}
		if i := bytes.IndexByte(old[len(old)-tail:], '\n'); i >= 0 {
			tail -= i + 1
		} else {
			tail = 0
		}
	}
	return excerpt{
		old:    old[head : len(old)-tail],
		now:    now[head : len(now)-tail],
		before: bytes.Count(old[:head], []byte("\n")),
		start:  head,
	}
}

// The first loop runs at memory speed, which pays off for texts of many megabytes.
const stride = 1 << 12

func commonPrefix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+stride <= limit && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+stride <= limit && bytes.Equal(a[len(a)-n-stride:len(a)-n], b[len(b)-n-stride:len(b)-n]) {
		n += stride
	}
	for n < limit && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// splitLines cuts text after each newline.
func splitLines(text []byte) []string {
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

// sampleBytes is how much of a content is searched for bytes that are rare in text.
const sampleBytes = 8 << 10

// isBinary guesses whether people prefer hex for a content: it has a NUL, or more than a third of
// its beginning is neither UTF-8 nor printable.
func isBinary(content []byte) bool {
	if bytes.IndexByte(content, 0) >= 0 {
		return true
	}
	sample := content[:min(len(content), sampleBytes)]
	odd, n := 0, 0
	for len(sample) > 0 {
		r, size := utf8.DecodeRune(sample)
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b\b", r) {
			odd++
		}
		n++
		sample = sample[size:]
	}
	return odd*3 > n
}
