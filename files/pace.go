package files

import (
	"errors"
	"io"
	"net/http"
	"time"

	"muster/files/internal/pace"
	"muster/internal/fair"
)

// pace ends a request whose body comes too slowly: a client that sends a byte now and then must
// not hold memory for ever. On a stream of HTTP/2 it also ends one whose answer is taken too
// slowly. Without streams the connection itself breaks then (package service). The time that
// the disk takes between two pieces does not count. pace returns the request with a paced body,
// and with its client in the context, and done, which is called when the request is answered.
//
// The request that came stays as it is, for net/http looks at its body when it answers: of
// one that waits for 100-continue it must know that nobody asked for the rest.
func (s *Server) pace(w *http.ResponseWriter, r *http.Request, token string) (paced *http.Request, done func()) {
	connection := http.NewResponseController(*w)
	stream := r.ProtoMajor > 1
	r = r.WithContext(fair.WithClient(r.Context(), clientOf(r, token))) // a copy
	writer := &pacedWriter{ResponseWriter: *w, owed: owed{connection, pace.New(s.options.RateMin, pace.WriteSlack)}, stream: stream}
	*w = writer
	if r.ContentLength != 0 || stream { // a stream may go on after a length of 0
		r.Body = &pacedBody{r.Body, owed{connection, pace.New(s.options.RateMin, pace.ReadSlack)}, stream}
	}
	if r.ContentLength != 0 && !stream {
		// What nobody reads of it, net/http does before it answers.
		_ = connection.SetReadDeadline(time.Now().Add(pace.ReadSlack))
	}
	return r, writer.finish
}

// owed is the pace that a request's client owes.
type owed struct {
	connection *http.ResponseController
	left       pace.Pace
}

// clientError is the error of a client that does not take what it asked for, or does not send
// what it announced.
type clientError struct{ error }

func (c *clientError) Unwrap() error { return c.error }

type pacedBody struct {
	io.ReadCloser
	owed
	stream bool // of HTTP/2: it breaks at its deadline, whether anybody reads or not
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
	stream bool // of HTTP/2: it breaks at its deadline, whether anybody writes or not
	wrote  bool // bytes of an answer
}

// streamPiece is how many bytes of an answer are written to a stream at a time. They count only
// once the whole piece was taken.
const streamPiece = 4 << 10

// Write is that of http.ResponseWriter.
func (w *pacedWriter) Write(p []byte) (written int, err error) {
	piece := len(p)
	w.wrote = w.wrote || piece > 0
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

// finish is called last. Else net/http would write what is left without a deadline.
func (w *pacedWriter) finish() {
	if w.stream && w.wrote {
		w.Flush()
	}
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
