package files

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrStalled is the error of a request that sent and received no byte for two minutes.
// The other end is still connected, but idle.
var ErrStalled = errors.New("nothing has moved for two minutes")

// stallMax is the time after which a request counts as stalled.
const stallMax = 2 * time.Minute

// stallWatch ends a request when neither its body nor its answer's body moves. The cause is
// ErrStalled.
type stallWatch struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer
}

func newStallWatch(ctx context.Context) *stallWatch {
	m := &stallWatch{}
	m.ctx, m.end = context.WithCancelCause(ctx)
	m.timer = time.AfterFunc(stallMax, func() { m.end(ErrStalled) })
	return m
}

// close stops the watch.
func (m *stallWatch) close() {
	m.timer.Stop()
	m.end(nil)
}

// explain returns ErrStalled in place of an error that the stall caused.
func (m *stallWatch) explain(err error) error {
	if err != nil && err != io.EOF && context.Cause(m.ctx) == ErrStalled {
		return ErrStalled
	}
	return err
}

// watchSent returns a request's body. Each read of it counts as movement.
func (m *stallWatch) watchSent(body io.Reader) io.Reader { return &sentBody{body, m} }

type sentBody struct {
	io.Reader
	m *stallWatch
}

func (r *sentBody) Read(p []byte) (int, error) {
	r.m.timer.Reset(stallMax)
	return r.Reader.Read(p)
}

// watchReceived watches the body of an answer while it is read. The caller's own pauses do not
// count. Closing the body ends the watch.
func (m *stallWatch) watchReceived(answer *http.Response) *http.Response {
	m.timer.Stop()
	answer.Body = &receivedBody{answer.Body, m}
	return answer
}

type receivedBody struct {
	io.ReadCloser
	m *stallWatch
}

func (r *receivedBody) Read(p []byte) (int, error) {
	r.m.timer.Reset(stallMax)
	defer r.m.timer.Stop()
	n, err := r.ReadCloser.Read(p)
	return n, r.m.explain(err)
}

func (r *receivedBody) Close() error {
	defer r.m.close()
	return r.ReadCloser.Close()
}
