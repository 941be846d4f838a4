package files

import (
	"io"
	"net/http"
)

// fileAnswer returns the writer for a file of this size. Over HTTP/1.1, one that takes several
// writes is an io.ReaderFrom, so that the connection may send it without copying it.
func (s *Server) fileAnswer(w http.ResponseWriter, r *http.Request, size int64) io.Writer {
	if size <= bufferedMax || r.ProtoMajor != 1 {
		return w
	}
	if s.options.More != nil {
		s.options.More(r.Context())
	}
	for under := w; ; {
		if own, ok := under.(readingAnswer); ok {
			return &directAnswer{Writer: w, own: own}
		}
		wrapper, ok := under.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		under = wrapper.Unwrap()
	}
}

// readingAnswer is an answer of net/http over HTTP/1.1.
type readingAnswer interface {
	io.ReaderFrom
	http.Flusher
}

// directAnswer passes a file to net/http's own answer.
type directAnswer struct {
	io.Writer
	own     readingAnswer
	flushed bool
}

// ReadFrom implements io.ReaderFrom.
func (d *directAnswer) ReadFrom(r io.Reader) (int64, error) {
	if !d.flushed { // else net/http copies the first bytes
		d.own.Flush()
		d.flushed = true
	}
	n, err := d.own.ReadFrom(r)
	if err != nil {
		err = &clientError{err}
	}
	return n, err
}
