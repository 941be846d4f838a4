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
// meanwhile. After the first, shared ones it is tried alone: an engine with little room loses
// them because of what is uploaded and executed for others.
const (
	attemptsMax    = 5
	sharedAttempts = 2
)

// pauseMin is before the first attempt alone, and twice as long before each other: engines
// make room beside what they do, and say of what they are about to drop that they have it.
const pauseMin = 200 * time.Millisecond

// exclusiveWeight is what an action takes of Engine.exclusion that is tried alone; beside
// others it is 1.
const exclusiveWeight = 1 << 30

// actionRun is one run of an action on an engine, a case's or a preflight's.
type actionRun struct {
	engine    *Engine
	builder   *actionBuilder
	action    *action
	exclusive bool // nothing else is uploaded or executed meanwhile
}

// nthAttempt does something for the nth time: beside what is done for others, or alone.
func (run *actionRun) nthAttempt(ctx context.Context, n int, do func(*actionRun) error) error {
	if run.exclusive || n <= sharedAttempts {
		return do(run)
	}
	if err := run.engine.exclusion.Acquire(ctx, exclusiveWeight); err != nil {
		return err
	}
	defer run.engine.exclusion.Release(exclusiveWeight)
	if err := run.engine.client.Pause(ctx, pauseMin<<(n-sharedAttempts-1)); err != nil {
		return err
	}
	alone := *run
	alone.exclusive = true
	return do(&alone)
}

// exhausted is an error, after the last attempt, about contents that the engine does not keep for long enough, and what
// may mend it.
func exhausted(err error) error {
	if m := (*client.Missing)(nil); errors.As(err, &m) && !m.Told() {
		return fault.Environmentf("%w (%d attempts); the engine has nothing that fits perhaps: --platform says what a worker must have", err, attemptsMax)
	}
	return fault.Environmentf("%w (%d attempts, the last with nothing else under way): the engine does not keep what a case needs for as long as it needs it; its store wants more room", err, attemptsMax)
}

// result is the outcome of a run: of one that the engine knows, unless it is to be fresh.
func (run *actionRun) result(ctx context.Context, fresh bool) (r *exec.Result, err error) {
	gone := (*client.Missing)(nil)
	for n := 1; ; n++ {
		err = run.nthAttempt(ctx, n, func(run *actionRun) error {
			resp, err := run.lookUpOrExecute(ctx, fresh)
			if err != nil {
				return err
			}
			r, err = run.action.resultOf(ctx, resp, run.store())
			gone = nil
			errors.As(err, &gone)
			return err
		})
		switch {
		case gone == nil:
			return r, err
		case n == attemptsMax:
			return nil, exhausted(err)
		}
		fresh, gone = true, nil // what it left is gone: it is made once more
	}
}

// lookUpOrExecute asks the engine's cache first, where that is worthwhile and allowed.
func (run *actionRun) lookUpOrExecute(ctx context.Context, fresh bool) (response, error) {
	if !fresh && run.engine.lookups.worthwhile() {
		result, known, err := run.engine.client.Result(ctx, client.Execution{Action: run.action.digest, Target: run.action.job.Source.Name})
		run.engine.lookups.record(known)
		if fresh = unreadableResult(err); !fresh && (err != nil || known) {
			return response{result: result, cached: true}, err
		}
	}
	return run.execute(ctx, fresh)
}

// unreadableResult reports whether an engine has a result that it cannot read itself, as
// buildbox has of a file whose name is not UTF-8: another execution gives it all the same.
func unreadableResult(err error) bool {
	return err != nil && (status.Code(err) == codes.Unknown || status.Code(err) == codes.DataLoss)
}

// execute uploads and executes. What the engine has no longer is uploaded again: first what
// it names, which may be but the top of what it lost, then all that the action needs.
func (run *actionRun) execute(ctx context.Context, fresh bool) (resp response, err error) {
	inputs := run.action.blobs
	for n := 1; ; n++ {
		err = run.nthAttempt(ctx, n, func(run *actionRun) error {
			resp, err = run.uploadAndExecute(ctx, inputs, fresh)
			return err
		})
		m := (*client.Missing)(nil)
		switch {
		case !errors.As(err, &m):
			return resp, err
		case n == attemptsMax:
			return resp, exhausted(err)
		case n == 1:
			inputs = append(slices.Clone(inputs), slices.Collect(run.builder.sharedBlobs)...)
			run.engine.client.Forget(m.Digests...)
			continue
		}
		for _, b := range inputs {
			run.engine.client.Forget(b.Digest)
		}
	}
}

// uploadAndExecute uploads sources while others are executed, of which there are only so many.
func (run *actionRun) uploadAndExecute(ctx context.Context, inputs []blob.Blob, fresh bool) (response, error) {
	e := run.engine
	if !run.exclusive {
		if err := e.exclusion.Acquire(ctx, 1); err != nil {
			return response{}, err
		}
		defer e.exclusion.Release(1)
	}
	if err := e.client.Upload(ctx, inputs); err != nil {
		return response{}, err
	}
	e.backlog.add(1)
	err := e.executing.Acquire(ctx, 1)
	e.backlog.add(-1)
	if err != nil {
		return response{}, err
	}
	defer e.executing.Release(1)
	began := time.Now()
	message, err := e.stages.execute(func(stated func(repb.ExecutionStage_Value)) (*repb.ExecuteResponse, error) {
		return e.client.Execute(ctx, client.Execution{Action: run.action.digest, Target: run.action.job.Source.Name, SkipCache: fresh, Stage: stated})
	})
	if err != nil {
		return response{}, err
	}
	resp, err := responseOf(message)
	if resp.cached {
		e.lookups.record(true)
	}
	resp.took = time.Since(began)
	return resp, err
}

// store is the engine's CAS. Its contents may be opened when the run is exclusive no more.
func (run *actionRun) store() contentStore {
	later := *run
	later.exclusive = false
	return contentStore{read: run.engine.client.Read, open: func(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
		return &outputReader{run: &later, ctx: ctx, digest: d}, nil
	}}
}

// batchedMax is how large a content, in bytes, is read with others in one request.
const batchedMax = 256 << 10

// outputReader is a content that an action left. If it is gone by the time that it is read the
// action is executed again.
type outputReader struct {
	run      *actionRun
	ctx      context.Context
	digest   blob.Digest
	body     io.ReadCloser // nil before and between attempts
	offset   int64
	attempts int
	err      error
}

func (o *outputReader) Read(p []byte) (int, error) {
	for o.err == nil {
		n, err := o.readOnce(p)
		o.offset += int64(n)
		if err == nil || n > 0 {
			return n, nil
		}
		o.err = o.reproduce(err)
	}
	return 0, o.err
}

func (o *outputReader) readOnce(p []byte) (int, error) {
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

func (o *outputReader) open() (io.ReadCloser, error) {
	c := o.run.engine.client
	if o.digest.Size > batchedMax {
		return c.Open(o.ctx, o.digest)
	}
	b, err := c.Read(o.ctx, o.digest)
	if err != nil {
		return nil, err
	}
	return blob.Of(b).Reader()
}

// reproduce is nil when another attempt makes sense after err.
func (o *outputReader) reproduce(err error) error {
	m := (*client.Missing)(nil)
	if o.attempts++; !errors.As(err, &m) {
		return err
	}
	if o.attempts == attemptsMax {
		return exhausted(err)
	}
	o.closeBody()
	return o.run.nthAttempt(o.ctx, o.attempts, func(run *actionRun) error {
		if _, err := run.execute(o.ctx, true); err != nil || !run.exclusive {
			return err
		}
		return o.buffer()
	})
}

// buffer takes the content into memory: a later reader could be too late again.
func (o *outputReader) buffer() error {
	body, err := o.open()
	if err != nil {
		return o.ignoreMissing(err)
	}
	defer body.Close() // nothing was written
	b, err := io.ReadAll(body)
	if err != nil {
		return o.ignoreMissing(err)
	}
	o.body = io.NopCloser(bytes.NewReader(b[min(o.offset, int64(len(b))):]))
	return nil
}

// ignoreMissing is nil where the content is gone once more: the next attempt is counted.
func (o *outputReader) ignoreMissing(err error) error {
	if m := (*client.Missing)(nil); errors.As(err, &m) {
		return nil
	}
	return err
}

func (o *outputReader) closeBody() {
	if o.body != nil {
		_ = o.body.Close() // nothing was written
		o.body = nil
	}
}

func (o *outputReader) Close() error {
	o.closeBody()
	if o.err == nil {
		o.err = io.ErrClosedPipe
	}
	return nil
}
