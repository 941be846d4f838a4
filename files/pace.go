package files

import (
	"errors"
	"io"
	"net/http"
	"time"

	"muster/fileio"
	"muster/files/internal/pace"
)

// pace ends a request whose body comes too slowly: a client that sends a byte now and then must
// not hold memory for ever. On a stream of HTTP/2 it also ends one whose answer is taken too
// slowly. Without streams the connection itself breaks then (package service). The time that
// the disk takes between two pieces does not count. pace returns the request with a paced body,
// and with its client in the context.
//
// The request that came stays as it is, for net/http looks at its body when it answers: of
// one that waits for 100-continue it must know that nobody asked for the rest.
func (s *Server) pace(w *http.ResponseWriter, r *http.Request, token string) *http.Request {
	connection := http.NewResponseController(*w)
	p := owed{connection: connection, left: pace.New(s.options.RateMin), stream: r.ProtoMajor > 1}
	r = r.WithContext(fileio.WithClient(r.Context(), clientOf(r, token))) // a copy
	if r.ContentLength != 0 {
		if !p.stream {
			// What nobody reads of it, net/http does before it answers.
			_ = connection.SetReadDeadline(time.Now().Add(pace.Slack))
		}
		r.Body = &pacedBody{ReadCloser: r.Body, owed: p}
	}
	*w = &pacedWriter{ResponseWriter: *w, owed: p}
	return r
}

// owed is the pace that a request's client owes.
type owed struct {
	connection *http.ResponseController
	left       pace.Pace
	stream     bool // of HTTP/2: it breaks at its deadline, whether anybody reads or not
}

// clientError is the error of a client that does not take what it asked for, or does not send
// what it announced.
type clientError struct{ error }

func (c *clientError) Unwrap() error { return c.error }

type pacedBody struct {
	io.ReadCloser
	owed
}

func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	if err := settable(b.connection.SetReadDeadline(began.Add(b.left.Left))); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.left.Moved(n, time.Since(began))
	if b.stream || err == io.EOF { // the server reads on, to learn that the client has gone
		if e := settable(b.connection.SetReadDeadline(time.Time{})); e != nil {
			return n, e
		}
	}
	if err != nil && err != io.EOF {
		err = &clientError{err}
	}
	return n, err
}

type pacedWriter struct {
	http.ResponseWriter
	owed
}

// streamPiece is how many bytes of an answer are written to a stream at a time. They count only
// once the whole piece was taken.
const streamPiece = 4 << 10

// Write is that of http.ResponseWriter.
func (w *pacedWriter) Write(p []byte) (written int, err error) {
	piece := len(p)
	if w.stream {
		piece = streamPiece
	}
	for written < len(p) {
		if err := w.wait(true); err != nil {
			return written, err
		}
		began := time.Now()
		n, err := w.ResponseWriter.Write(p[written:min(written+piece, len(p))])
		written += n
		w.left.Moved(n, time.Since(began))
		if err != nil {
			return written, &clientError{err}
		}
	}
	return written, w.wait(false)
}

// Flush is for streams; that it failed shows when more is written.
func (w *pacedWriter) Flush() {
	if w.wait(true) == nil {
		_ = w.connection.Flush()
		_ = w.wait(false)
	}
}

// wait has a stream break when its client's time runs out, or no more. Only streams need it.
func (w *pacedWriter) wait(on bool) error {
	if !w.stream {
		return nil
	}
	var deadline time.Time
	if on {
		deadline = time.Now().Add(w.left.Left)
	}
	return settable(w.connection.SetWriteDeadline(deadline))
}

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// settable passes over that a connection has no deadlines, as behind a handler of somebody
// else that hides them.
func settable(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
