package corpus_test

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/corpus"
)

// A cursor reads and seeks as a bytes.Reader does, but for how much one Read
// gives.
func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := make([]byte, rapid.IntRange(0, 20_000).Draw(t, "size"))
		for i := range content {
			content[i] = byte(i * i >> 8)
		}
		want := bytes.NewReader(content)
		got := corpus.NewCursor(bytes.NewReader(content), int64(len(content)))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			whence := rapid.SampledFrom([]int{io.SeekStart, io.SeekCurrent, io.SeekEnd}).Draw(t, "whence")
			offset := rapid.Int64Range(-9000, 9000).Draw(t, "offset")
			a, errA := want.Seek(offset, whence)
			b, errB := got.Seek(offset, whence)
			if (errA == nil) != (errB == nil) || errA == nil && a != b {
				t.Fatalf("Seek(%d, %d): %d %v, want %d %v", offset, whence, b, errB, a, errA)
			}
			n := rapid.IntRange(0, 9000).Draw(t, "read")
			bufA, bufB := make([]byte, n), make([]byte, n)
			readA, errA := io.ReadFull(want, bufA)
			readB, errB := io.ReadFull(got, bufB)
			if readA != readB || errA != errB || !bytes.Equal(bufA, bufB) {
				t.Fatalf("read %d %v, want %d %v", readB, errB, readA, errA)
			}
		}
	})
}

// A file that became shorter is not an end where the archive may end.
func TestCursorShrunk(t *testing.T) {
	c := corpus.NewCursor(bytes.NewReader(make([]byte, 100)), 200)
	if n, err := io.ReadFull(c, make([]byte, 150)); err != io.ErrUnexpectedEOF {
		t.Errorf("read %d, %v", n, err)
	}
	if n, err := c.Read(make([]byte, 1)); err != io.ErrUnexpectedEOF {
		t.Errorf("read %d, %v", n, err)
	}
}
