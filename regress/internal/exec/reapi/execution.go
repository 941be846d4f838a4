package reapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/fault"
)

// attemptsMax is how often an action is tried whose inputs or outputs the engine loses
// meanwhile. After the first ones it is tried alone: an engine with little room loses them
// because of what is sent and made for others.
const (
	attemptsMax = 5
	amongMax    = 2
)

// pauseMin is before the first attempt alone, and twice as long before each other: engines
// make room beside what they do, and say of what they are about to drop that they have it.
const pauseMin = 200 * time.Millisecond

// roomMax is what an action takes up that is tried alone; among others it is 1.
const roomMax = 1 << 30

// execution is one run of a case on an engine.
type execution struct {
	engine *Engine
	shared *Actions
	action *Action
	alone  bool // nothing else is sent or executed meanwhile
}

// among does something for the nth time: beside what is done for others, or alone.
func (x *execution) among(ctx context.Context, n int, do func(*execution) error) error {
	if x.alone || n <= amongMax {
		return do(x)
	}
	if err := x.engine.room.Acquire(ctx, roomMax); err != nil {
		return err
	}
	defer x.engine.room.Release(roomMax)
	if err := x.engine.client.Pause(ctx, pauseMin<<(n-amongMax-1)); err != nil {
		return err
	}
	alone := *x
	alone.alone = true
	return do(&alone)
}

// lost is an error about contents that the engine does not keep for long enough, and what
// may mend it.
func lost(err error) error {
	if m := (*client.Missing)(nil); errors.As(err, &m) && !m.Told() {
		return fault.Environmentf("%w (%d attempts); the engine has nothing that fits perhaps: --platform says what a worker must have", err, attemptsMax)
	}
	return fault.Environmentf("%w (%d attempts, the last with nothing else under way): the engine does not keep what a case needs for as long as it needs it; its store wants more room", err, attemptsMax)
}

// result is the outcome of a run: of one that the engine knows, unless it is to be fresh.
func (x *execution) result(ctx context.Context, fresh bool) (r *exec.Result, err error) {
	gone := (*client.Missing)(nil)
	for n := 1; ; n++ {
		err = x.among(ctx, n, func(x *execution) error {
			came, err := x.came(ctx, fresh)
			if err != nil {
				return err
			}
			r, err = x.action.Result(ctx, came, x.contents())
			gone = nil
			errors.As(err, &gone)
			return err
		})
		switch {
		case gone == nil && errors.Is(err, errNotStarted) && n <= startsMax:
		case gone == nil:
			return r, err
		case n == attemptsMax:
			return nil, lost(err)
		}
		fresh, gone = true, nil // it is made once more, for what it left is gone, or was never made
	}
}

func (x *execution) came(ctx context.Context, fresh bool) (Came, error) {
	if !fresh && x.engine.asking.worthAsking() {
		r, known, err := x.engine.client.Result(ctx, client.Execution{Action: x.action.Digest, Target: x.action.job.Source.Name})
		x.engine.asking.tell(known)
		if fresh = damaged(err); !fresh && (err != nil || known) {
			return Came{Result: r, Cached: true}, err
		}
	}
	return x.execute(ctx, fresh)
}

// damaged reports whether an engine has a result that it cannot read itself, as buildbox has
// of a file whose name is not UTF-8: another execution gives it all the same.
func damaged(err error) bool {
	return err != nil && (status.Code(err) == codes.Unknown || status.Code(err) == codes.DataLoss)
}

// execute uploads and executes. What the engine has no longer is uploaded again: first what
// it names, which may be but the top of what it lost, then all that the action needs.
func (x *execution) execute(ctx context.Context, fresh bool) (came Came, err error) {
	inputs := x.action.Blobs
	for n := 1; ; n++ {
		err = x.among(ctx, n, func(x *execution) error {
			came, err = x.attempt(ctx, inputs, fresh)
			return err
		})
		m := (*client.Missing)(nil)
		switch {
		case !errors.As(err, &m):
			return came, err
		case n == attemptsMax:
			return came, lost(err)
		case n == 1:
			inputs = append(slices.Clone(inputs), slices.Collect(x.shared.Shared)...)
			x.engine.client.Forget(m.Digests...)
			continue
		}
		for _, b := range inputs {
			x.engine.client.Forget(b.Digest)
		}
	}
}

// attempt sends sources while others are executed, of which there are only so many.
func (x *execution) attempt(ctx context.Context, inputs []blob.Blob, fresh bool) (Came, error) {
	e := x.engine
	if !x.alone {
		if err := e.room.Acquire(ctx, 1); err != nil {
			return Came{}, err
		}
		defer e.room.Release(1)
	}
	if err := e.client.Upload(ctx, inputs); err != nil {
		return Came{}, err
	}
	e.ahead.add(1)
	err := e.executing.Acquire(ctx, 1)
	e.ahead.add(-1)
	if err != nil {
		return Came{}, err
	}
	defer e.executing.Release(1)
	began := time.Now()
	response, err := e.stages.execute(func(said func(repb.ExecutionStage_Value)) (*repb.ExecuteResponse, error) {
		return e.client.Execute(ctx, client.Execution{Action: x.action.Digest, Target: x.action.job.Source.Name, SkipCache: fresh, Stage: said})
	})
	if err != nil {
		return Came{}, err
	}
	came, err := CameOf(response)
	if came.Cached {
		e.asking.tell(true)
	}
	came.Asked = time.Since(began)
	return came, err
}

// contents may be opened when the execution is alone no more.
func (x *execution) contents() Contents {
	later := *x
	later.alone = false
	return Contents{Read: x.engine.client.Read, Open: func(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
		return &output{x: &later, ctx: ctx, d: d}, nil
	}}
}

// wholeMax is how large a content, in bytes, is read with others in one request.
const wholeMax = 256 << 10

// output is a content that an action left. If it is gone by the time that it is read the
// action is executed again.
type output struct {
	x      *execution
	ctx    context.Context
	d      blob.Digest
	body   io.ReadCloser // nil before and between attempts
	offset int64
	tries  int
	end    error
}

func (o *output) Read(p []byte) (int, error) {
	for o.end == nil {
		n, err := o.step(p)
		o.offset += int64(n)
		if err == nil || n > 0 {
			return n, nil
		}
		o.end = o.again(err)
	}
	return 0, o.end
}

func (o *output) step(p []byte) (int, error) {
	if o.body == nil {
		body, err := o.open()
		if err != nil {
			return 0, err
		}
		o.body = body
		if _, err := io.CopyN(io.Discard, body, o.offset); err != nil {
			return 0, err
		}
	}
	return o.body.Read(p)
}

func (o *output) open() (io.ReadCloser, error) {
	c := o.x.engine.client
	if o.d.Size > wholeMax {
		return c.Open(o.ctx, o.d)
	}
	b, err := c.Read(o.ctx, o.d)
	if err != nil {
		return nil, err
	}
	return blob.Of(b).Reader()
}

// again is nil when another attempt makes sense after err.
func (o *output) again(err error) error {
	m := (*client.Missing)(nil)
	if o.tries++; !errors.As(err, &m) {
		return err
	}
	if o.tries == attemptsMax {
		return lost(err)
	}
	o.drop()
	return o.x.among(o.ctx, o.tries, func(x *execution) error {
		if _, err := x.execute(o.ctx, true); err != nil || !x.alone {
			return err
		}
		return o.hold()
	})
}

// hold takes the content into memory: a later reader could be too late again.
func (o *output) hold() error {
	body, err := o.open()
	if err != nil {
		return o.missing(err)
	}
	defer body.Close() // nothing was written
	b, err := io.ReadAll(body)
	if err != nil {
		return o.missing(err)
	}
	o.body = io.NopCloser(bytes.NewReader(b[min(o.offset, int64(len(b))):]))
	return nil
}

// missing is nil where the content is gone once more: the next attempt is counted.
func (o *output) missing(err error) error {
	if m := (*client.Missing)(nil); errors.As(err, &m) {
		return nil
	}
	return err
}

func (o *output) drop() {
	if o.body != nil {
		_ = o.body.Close() // nothing was written
		o.body = nil
	}
}

func (o *output) Close() error {
	o.drop()
	if o.end == nil {
		o.end = io.ErrClosedPipe
	}
	return nil
}
