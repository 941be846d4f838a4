package probe

import "strings"

const keptBytesMax = 64 << 10

// firstBytes keeps the beginning of its input. The stacks of thousands of goroutines take
// megabytes.
type firstBytes struct{ bytes []byte }

func (f *firstBytes) Write(p []byte) (int, error) {
	f.bytes = append(f.bytes, p[:min(len(p), keptBytesMax-len(f.bytes))]...)
	return len(p), nil
}

// firstLines returns the text before the first empty line, which separates the message from
// the stacks.
func firstLines(output []byte) string {
	head, _, _ := strings.Cut(string(output), "\n\n")
	return strings.TrimSpace(head)
}
