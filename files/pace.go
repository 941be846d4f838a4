package files

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// pieceSize is how many bytes a client must send, or take, within the server's patience. It
// is what the store has in memory for one of them at most.
const pieceSize = 256 << 10

// pace makes a request's connection break where a piece of its body does not arrive in
// time, or a piece of the answer is not taken: who sends a byte now and then must not hold
// memory for ever. How long the disk takes between two pieces does not count.
func (s *Server) pace(w *http.ResponseWriter, r *http.Request) {
	connection := http.NewResponseController(*w)
	if r.ContentLength != 0 {
		r.Body = &pacedBody{ReadCloser: r.Body, connection: connection, patience: s.options.Patience}
	}
	*w = &pacedWriter{ResponseWriter: *w, connection: connection, patience: s.options.Patience}
}

type pacedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	patience   time.Duration
	left       int // of the piece
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left = pieceSize
		if err := settable(b.connection.SetReadDeadline(time.Now().Add(b.patience))); err != nil {
			return 0, err
		}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && err != io.EOF {
		return n, &clientError{err}
	}
	if err == io.EOF { // the server reads on, to learn that the client has gone
		if e := settable(b.connection.SetReadDeadline(time.Time{})); e != nil {
			return n, e
		}
	}
	return n, err
}

type pacedWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
	patience   time.Duration
}

// clientError is one of a client that does not send all of what it announced, or does not
// take what it asked for.
type clientError struct{ error }

func (c *clientError) Unwrap() error { return c.error }

// Write is never given more than a piece, or a message.
func (w *pacedWriter) Write(p []byte) (int, error) {
	if err := settable(w.connection.SetWriteDeadline(time.Now().Add(w.patience))); err != nil {
		return 0, err
	}
	n, err := w.ResponseWriter.Write(p)
	if err != nil {
		err = &clientError{err}
	}
	return n, err
}

// Flush is for streams; that it failed shows when more is written.
func (w *pacedWriter) Flush() { _ = w.connection.Flush() }

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
