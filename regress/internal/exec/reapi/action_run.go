package reapi

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/internal/readable"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/fault"
)

// actionRun is one run of an action on an engine, for a case or a preflight.
type actionRun struct {
	engine  *Engine
	builder *actionBuilder
	action  *action
}

// result returns the outcome of a run. If the run need not be fresh, it may be one that the
// engine has in its cache.
func (run *actionRun) result(ctx context.Context, fresh bool) (*exec.Result, error) {
	for n := 1; ; n++ {
		resp, err := run.lookUpOrExecute(ctx, fresh)
		if err != nil {
			return nil, err
		}
		r, err := run.action.resultOf(ctx, resp, run.store(run.companyWait(resp)))
		isGone := errors.As(err, new(*client.MissingError))
		switch {
		case isGone && n == attemptsMax:
			return nil, exhausted(err)
		case n == attemptsMax, !isGone && !errors.Is(err, errNotStarted):
			return r, err
		}
		fresh = true // executed once more, because its outputs are gone or were never made
	}
}

// lookUpOrExecute first asks the engine's cache, if that is allowed and worthwhile.
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

// unreadableResult reports whether the engine cannot read its own result, as buildbox cannot
// for a file whose name is not UTF-8. Another execution returns it all the same.
func unreadableResult(err error) bool {
	return err != nil && (status.Code(err) == codes.Unknown || status.Code(err) == codes.DataLoss)
}

// execute uploads and executes. If the engine may have lost contents, execute uploads again: first
// those that the engine names, which may be only the top of a lost tree, then everything that
// the action needs.
func (run *actionRun) execute(ctx context.Context, fresh bool) (response, error) {
	inputs := run.action.blobs
	for n := 1; ; n++ {
		resp, err := run.uploadAndExecute(ctx, inputs, fresh)
		m := (*client.MissingError)(nil)
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

// uploadAndExecute uploads sources while other actions are executed. Executions are limited.
func (run *actionRun) uploadAndExecute(ctx context.Context, inputs []blob.Blob, fresh bool) (response, error) {
	e := run.engine
	if err := e.client.Upload(ctx, inputs); err != nil {
		return response{}, err
	}
	e.backlog.add(1)
	err := e.slots.Acquire(ctx, 1)
	e.backlog.add(-1)
	if err != nil {
		return response{}, err
	}
	defer e.slots.Release(1)
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
	resp.asked = time.Since(began)
	return resp, err
}

// store returns the engine's CAS. It reads small messages within the given time.
func (run *actionRun) store(wait time.Duration) contentStore {
	read := func(ctx context.Context, d blob.Digest) ([]byte, error) {
		return run.engine.client.ReadWithin(ctx, d, wait)
	}
	return contentStore{read: read, open: func(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
		return &outputReader{run: run, ctx: ctx, digest: d}, nil
	}}
}

// attemptsMax bounds the attempts at an action whose inputs or outputs the engine loses, or that its sandbox does not
// start.
const attemptsMax = 3

// exhausted returns the error after the last attempt. It names a remedy if the engine names what is missing.
func exhausted(err error) error {
	remedy := ""
	if m := (*client.MissingError)(nil); errors.As(err, &m) && len(m.Digests) > 0 {
		remedy = "; its store needs more room, for it does not keep a case's contents for long enough"
	}
	return fault.Environmentf("%w (%s)%s", err, readable.Count(attemptsMax, "attempt"), remedy)
}

// State counts the executions in flight, and those in each stage that the engine reports.
// Executions without a reported stage are in neither.
type State struct{ InFlight, Queued, Running int }

// State returns the present counts.
func (e *Engine) State() State {
	s := &e.stages
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s.inFlight, s.in[repb.ExecutionStage_QUEUED], s.in[repb.ExecutionStage_EXECUTING]}
}

// stages counts executions.
type stages struct {
	mu       sync.Mutex
	inFlight int
	in       map[repb.ExecutionStage_Value]int
}

// execute counts an execution while it runs.
func (s *stages) execute(do func(stated func(repb.ExecutionStage_Value)) (*repb.ExecuteResponse, error)) (*repb.ExecuteResponse, error) {
	stage := repb.ExecutionStage_UNKNOWN
	move := func(n int, to repb.ExecutionStage_Value) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.in == nil {
			s.in = map[repb.ExecutionStage_Value]int{}
		}
		s.inFlight += n
		s.in[stage]--
		s.in[to]++
		stage = to
	}
	move(1, repb.ExecutionStage_UNKNOWN)
	defer move(-1, repb.ExecutionStage_UNKNOWN)
	return do(func(to repb.ExecutionStage_Value) { move(0, to) })
}
