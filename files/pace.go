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
// memory for ever. How long the disk takes between two pieces does not count. It returns
// the request whose body is paced, and what is to be called once it is answered.
//
// The request that came stays as it is, for net/http looks at its body when it answers: of
// one that waits for 100-continue it must know that nobody asked for the rest.
func (s *Server) pace(w *http.ResponseWriter, r *http.Request) (paced *http.Request, end func()) {
	connection := http.NewResponseController(*w)
	streams := r.ProtoMajor > 1
	if r.ContentLength != 0 {
		if !streams {
			// What nobody reads of it, net/http does before it answers.
			_ = connection.SetReadDeadline(time.Now().Add(s.options.Patience))
		}
		r = r.WithContext(r.Context()) // a copy
		r.Body = &pacedBody{ReadCloser: r.Body, connection: connection, patience: s.options.Patience, stream: streams}
	}
	writer := &pacedWriter{ResponseWriter: *w, connection: connection, patience: s.options.Patience, stream: streams, body: r.ContentLength != 0}
	*w = writer
	return r, writer.end
}

type pacedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	patience   time.Duration
	stream     bool // of HTTP/2, which breaks at its deadline, whether anybody reads or not

	left int           // of the piece
	time time.Duration // for what is left
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left, b.time = pieceSize, b.patience
	}
	began := time.Now()
	if err := settable(b.connection.SetReadDeadline(began.Add(b.time))); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.time -= time.Since(began)
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
	connection *http.ResponseController
	patience   time.Duration
	stream     bool // as of pacedBody
	body       bool // the request has one
	written    bool
}

// clientError is one of a client that does not take what it asked for, or does not send
// what it announced.
type clientError struct{ error }

func (c *clientError) Unwrap() error { return c.error }

// Write is never given more than a piece, or a message.
func (w *pacedWriter) Write(p []byte) (int, error) {
	w.written = true
	if err := w.wait(true); err != nil {
		return 0, err
	}
	n, err := w.ResponseWriter.Write(p)
	if err != nil {
		return n, &clientError{err}
	}
	return n, w.wait(false)
}

// Flush is for streams; that it failed shows when more is written.
func (w *pacedWriter) Flush() {
	if w.wait(true) == nil {
		_ = w.connection.Flush()
		_ = w.wait(false)
	}
}

// end is for what was written and is not sent yet. Without streams it is not before the rest
// of the request's body has come, or not come in time.
func (w *pacedWriter) end() {
	if w.written && (w.stream || w.body) {
		_ = settable(w.connection.SetWriteDeadline(time.Now().Add(2 * w.patience)))
	}
}

// wait has the connection break when the client takes nothing for too long from now on; or
// not, which is needed of streams alone.
func (w *pacedWriter) wait(on bool) error {
	var deadline time.Time
	if on {
		deadline = time.Now().Add(w.patience)
	} else if !w.stream {
		return nil
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
