package files

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrStalled is the error of a request of which nothing was sent or came for two minutes.
// The other end is there, else its system would have said so, and does nothing.
var ErrStalled = errors.New("nothing has moved for two minutes")

// stallMax is how long that is.
const stallMax = 2 * time.Minute

// moving ends a request that does not move, neither its body nor that of its answer, with
// ErrStalled as the cause.
type moving struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer
}

func newMoving(ctx context.Context) *moving {
	m := &moving{}
	m.ctx, m.end = context.WithCancelCause(ctx)
	m.timer = time.AfterFunc(stallMax, func() { m.end(ErrStalled) })
	return m
}

// close lets go of what watches.
func (m *moving) close() {
	m.timer.Stop()
	m.end(nil)
}

// about is ErrStalled in place of an error that comes from that.
func (m *moving) about(err error) error {
	if err != nil && err != io.EOF && context.Cause(m.ctx) == ErrStalled {
		return ErrStalled
	}
	return err
}

// sending is a request's body, of which each piece is a move.
func (m *moving) sending(body io.Reader) io.Reader { return &moves{body, m} }

type moves struct {
	io.Reader
	m *moving
}

func (r *moves) Read(p []byte) (int, error) {
	r.m.timer.Reset(stallMax)
	return r.Reader.Read(p)
}

// coming is an answer whose body is watched while it is read: how long the caller takes
// between two pieces does not count. Closing it ends all.
func (m *moving) coming(answer *http.Response) *http.Response {
	m.timer.Stop()
	answer.Body = &comes{answer.Body, m}
	return answer
}

type comes struct {
	io.ReadCloser
	m *moving
}

func (r *comes) Read(p []byte) (int, error) {
	r.m.timer.Reset(stallMax)
	defer r.m.timer.Stop()
	n, err := r.ReadCloser.Read(p)
	return n, r.m.about(err)
}

func (r *comes) Close() error {
	defer r.m.close()
	return r.ReadCloser.Close()
}
