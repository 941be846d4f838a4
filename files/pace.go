package files

import (
	"errors"
	"io"
	"net/http"
	"time"

	"muster/files/internal/pace"
	"muster/internal/fair"
)

// pace ends a request whose body arrives too slowly: a client that sends a byte now and then
// must not hold memory for ever. On HTTP/2 streams it also ends a request whose client reads
// the answer too slowly. On other connections package service breaks the connection itself.
// The time that the disk takes between two pieces does not count. pace returns the request
// with a paced body and its client in the context. Call done when the request is answered.
//
// pace does not change the original request, because net/http inspects its body when it
// answers. After Expect: 100-continue it must know that nobody asked for the rest.
func (s *Server) pace(w *http.ResponseWriter, r *http.Request, token string) (paced *http.Request, done func()) {
	connection := http.NewResponseController(*w)
	stream := r.ProtoMajor > 1
	r = r.WithContext(fair.WithClient(r.Context(), clientOf(r, token))) // a copy
	writer := &pacedWriter{ResponseWriter: *w, clientPace: clientPace{connection, pace.New(s.options.RateMin, pace.WriteSlack)}, stream: stream}
	*w = writer
	if r.ContentLength != 0 || stream { // a stream may continue after a length of 0
		r.Body = &pacedBody{r.Body, clientPace{connection, pace.New(s.options.RateMin, pace.ReadSlack)}, stream}
	}
	if r.ContentLength != 0 && !stream {
		// net/http reads the rest of the body before it answers.
		_ = connection.SetReadDeadline(time.Now().Add(pace.ReadSlack))
	}
	return r, writer.finish
}

// clientPace is the remaining time of a request's client.
type clientPace struct {
	connection *http.ResponseController
	left       pace.Pace
}

type pacedBody struct {
	io.ReadCloser
	clientPace
	stream bool // of HTTP/2: it breaks at its deadline, whether anybody reads or not
}

func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	if err := ignoreUnsupported(b.connection.SetReadDeadline(began.Add(b.left.Left))); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.left.Record(n, time.Since(began))
	if b.stream || err == io.EOF { // the server keeps reading to notice when the client goes
		if e := ignoreUnsupported(b.connection.SetReadDeadline(time.Time{})); e != nil {
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
	clientPace
	stream bool // of HTTP/2: it breaks at its deadline, whether anybody writes or not
	wrote  bool // whether bytes of the answer were written
}

// streamPiece is how many bytes of an answer are written to a stream at a time. They count
// only once the client has taken the whole piece.
const streamPiece = 4 << 10

// Write implements http.ResponseWriter.
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
		w.left.Record(n, time.Since(began))
		if err != nil {
			return written, &clientError{err}
		}
	}
	return written, w.wait(false)
}

// Flush is for streams. The next write reports an error of Flush.
func (w *pacedWriter) Flush() {
	if w.wait(true) == nil {
		_ = w.connection.Flush()
		_ = w.wait(false)
	}
}

// wait starts or stops the deadline of a stream. Only streams need it.
func (w *pacedWriter) wait(on bool) error {
	if !w.stream {
		return nil
	}
	var deadline time.Time
	if on {
		deadline = time.Now().Add(w.left.Left)
	}
	return ignoreUnsupported(w.connection.SetWriteDeadline(deadline))
}

// finish flushes a stream's answer. Otherwise net/http would write the rest without a
// deadline.
func (w *pacedWriter) finish() {
	if w.stream && w.wrote {
		w.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ignoreUnsupported ignores that a connection has no deadlines, because another handler hides
// them.
func ignoreUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
