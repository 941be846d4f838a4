package files

import "io"

// Bounds on PageSize.
const (
	// PageSizeMax is the largest PageSize.
	PageSizeMax = 1 << 20
	pageDefault = 64 << 10
)

// limitReads returns a reader that reads at most a page at a time.
func limitReads(r io.Reader, page int) io.Reader { return &pagedReader{r, page} }

type pagedReader struct {
	r    io.Reader
	page int
}

func (p *pagedReader) Read(data []byte) (int, error) {
	return p.r.Read(data[:min(len(data), p.page)])
}
