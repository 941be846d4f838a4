package probe

import "strings"

const keptBytesMax = 64 << 10

// firstBytes keeps the beginning of what is written to it: the stacks of thousands of
// goroutines are megabytes.
type firstBytes struct{ bytes []byte }

func (f *firstBytes) Write(p []byte) (int, error) {
	f.bytes = append(f.bytes, p[:min(len(p), keptBytesMax-len(f.bytes))]...)
	return len(p), nil
}

// firstLines is what comes before the stacks.
func firstLines(said []byte) string {
	head, _, _ := strings.Cut(string(said), "\n\n")
	return strings.TrimSpace(head)
}
