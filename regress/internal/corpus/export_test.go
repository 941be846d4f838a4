package corpus

import (
	"context"
	"io"
)

// NewCursor is for the tests alone.
func NewCursor(src io.ReaderAt, size int64) io.ReadSeeker {
	return &cursor{ctx: context.Background(), src: src, size: size}
}
