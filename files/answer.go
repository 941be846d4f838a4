package files

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// fileAnswer returns the writer for a file that takes several writes. Over HTTP/1.1 it is an
// io.ReaderFrom, so that the connection may send the file without copying it.
func fileAnswer(w http.ResponseWriter) io.Writer {
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

// clientError is the error of a client that does not read its answer or does not send its
// announced body.
type clientError struct{ error }

func (c *clientError) Unwrap() error { return c.error }

var errSlow = errors.New("the client took too long for a piece of its file or message")

// Error implements error. A time-out has other words than Go's, which name the connection's addresses.
func (c *clientError) Error() string {
	if errors.Is(c.error, os.ErrDeadlineExceeded) {
		return errSlow.Error()
	}
	return c.error.Error()
}
