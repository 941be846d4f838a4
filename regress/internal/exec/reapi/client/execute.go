package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// Execution asks for an action to be executed. Its inputs must have been uploaded.
// Action must be set; all else may be left out.
type Execution struct {
	Action    blob.Digest
	Target    string // what it is for, in words for the engine's records
	SkipCache bool   // execute it also if its result is known

	// Stage, if not nil, hears of each stage that the engine states, in the goroutine that
	// asks. Engines may leave out any of them.
	Stage func(repb.ExecutionStage_Value)
}

// Result returns what the engine knows to come of an action; false if it does not know.
func (c *Client) Result(ctx context.Context, x Execution) (result *repb.ActionResult, known bool, err error) {
	ctx = ofAction(ctx, x)
	err = c.retries().do(ctx, recalling, func() (err error) {
		if result, err = c.recall(ctx, x, true, resultMax); tooLarge(err) {
			result, err = c.recallLarge(ctx, x)
		}
		known = err == nil
		if code := status.Code(err); code == codes.NotFound || code == codes.Unimplemented {
			return nil // without a cache for clients, Execute still looks
		}
		return err
	})
	return result, known, err
}

// recallLarge asks without what a result can have inline. How large one is nobody says before
// it is here, so few are asked for at once.
func (c *Client) recallLarge(ctx context.Context, x Execution) (*repb.ActionResult, error) {
	if err := c.largeResults.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer c.largeResults.Release(1)
	return c.recall(ctx, x, false, messageMax)
}

// recall asks for a result once, with what it can have inline or without.
func (c *Client) recall(ctx context.Context, x Execution, inline bool, most int) (*repb.ActionResult, error) {
	return c.cache.GetActionResult(ctx, &repb.GetActionResultRequest{
		InstanceName: c.o.Instance, ActionDigest: x.Action.Proto(), DigestFunction: repb.DigestFunction_SHA256,
		InlineStdout: inline, InlineStderr: inline,
	}, grpc.MaxCallRecvMsgSize(most))
}

// Execute has an action executed and returns what came of it: a result, with a status of OK,
// or of DEADLINE_EXCEEDED where the action took longer than it may. All else is an error of
// class Environment, with a MissingError in its chain where contents may be missing.
//
// Of a response above 4 MiB the client holds a few at once, each of up to 16 MiB, for all
// callers; the others wait for theirs. It is the caller's when it is returned.
func (c *Client) Execute(ctx context.Context, x Execution) (*repb.ExecuteResponse, error) {
	ctx, cancel := context.WithTimeoutCause(ofAction(ctx, x), c.o.Execution,
		c.failed(executing, fmt.Errorf("no result within %v", c.o.Execution)))
	defer cancel()
	e := &execution{c: c, x: x, on: c.forExecution()}
	r := c.retries()
	var response *repb.ExecuteResponse
	err := r.do(ctx, executing, func() (err error) {
		began := time.Now()
		response, err = e.follow(ctx)
		// A stream that lived for a while is no failed attempt, or long actions would end
		// with the patience of some proxy.
		if e.heard && time.Since(began) >= c.o.BackoffMax {
			r.progressed()
		}
		return err
	})
	if err != nil {
		e.abandon(ctx)
		return nil, err
	}
	c.executed.Add(1)
	return response, nil
}

// execution is one that may take several streams.
type execution struct {
	c     *Client
	x     Execution
	on    *grpc.ClientConn
	name  string // of the operation, as soon as the engine said it
	waits bool   // the latest stream asked for that operation
	stage repb.ExecutionStage_Value
	heard bool // something on the latest stream
	large bool // the result was larger than most are
	apart bool // and too large for any: it shall come without what it can have inline
}

// follow opens a stream and reads it to the result.
func (e *execution) follow(ctx context.Context) (*repb.ExecuteResponse, error) {
	e.heard = false
	if e.large {
		if err := e.c.largeResults.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer e.c.largeResults.Release(1)
	}
	g := e.guard(ctx)
	defer g.end()
	stream, err := e.open(g.ctx)
	for err == nil {
		var op *longrunningpb.Operation
		if op, err = stream.Recv(); err != nil {
			break
		}
		if e.note(op); e.name != "" {
			g.after = e.c.o.Silence
			g.progressed()
		}
		if op.GetDone() {
			return e.done(ctx, op)
		}
	}
	return nil, e.broken(g.why(err))
}

// guard ends a stream that is silent. Without a name nothing can be asked for again but the
// execution itself, so that is done only where the engine is known to name what it has at
// once: there a proxy has lost the request, or the answer. Else it may run already, and is
// waited for as long as it may take in all.
func (e *execution) guard(ctx context.Context) *guard {
	if e.name != "" {
		return newGuard(ctx, e.c.o.Silence, func() bool { return false })
	}
	return newGuard(ctx, max(e.c.o.Silence, e.c.o.Wait), func() bool { return !e.c.namesAtOnce.Load() })
}

func (e *execution) open(ctx context.Context) (grpc.ServerStreamingClient[longrunningpb.Operation], error) {
	most := grpc.MaxCallRecvMsgSize(resultMax)
	if e.large {
		most = grpc.MaxCallRecvMsgSize(messageMax)
	}
	if e.waits = e.name != ""; e.waits {
		return repb.NewExecutionClient(e.on).WaitExecution(ctx, &repb.WaitExecutionRequest{Name: e.name}, most)
	}
	req := &repb.ExecuteRequest{
		InstanceName: e.c.o.Instance, ActionDigest: e.x.Action.Proto(), SkipCacheLookup: e.x.SkipCache,
		DigestFunction: repb.DigestFunction_SHA256, InlineStdout: !e.apart, InlineStderr: !e.apart,
	}
	if e.c.o.Priority != 0 {
		req.ExecutionPolicy = &repb.ExecutionPolicy{Priority: e.c.o.Priority}
	}
	return repb.NewExecutionClient(e.on).Execute(ctx, req, most)
}

// note takes the name and the stage from a message.
func (e *execution) note(op *longrunningpb.Operation) {
	e.heard = true
	if op.GetName() != "" {
		e.name = op.GetName()
	}
	about := &repb.ExecuteOperationMetadata{}
	err := op.GetMetadata().UnmarshalTo(about)
	if e.name != "" && about.Stage < repb.ExecutionStage_EXECUTING && !op.GetDone() {
		e.c.namesAtOnce.Store(true)
	}
	if err != nil || about.Stage == e.stage {
		return
	}
	if e.stage = about.Stage; e.x.Stage != nil {
		e.x.Stage(about.Stage)
	}
}

// broken says of a stream that ended without a result whether to ask again, and how.
func (e *execution) broken(err error) error {
	code := status.Code(err)
	switch {
	case errors.Is(err, io.EOF):
		return transient{errors.New("the stream ended without a result")}
	case e.waits && (code == codes.NotFound || code == codes.Unimplemented):
		e.name = "" // it is forgotten, so the action is executed anew
		return transient{err}
	case tooLarge(err) && !e.large && e.name != "":
		e.large = true // it has ended, and its name has the result still
		return transient{err}
	case tooLarge(err) && !e.apart:
		e.name, e.large, e.apart = "", true, true
		return transient{err}
	case code == codes.DataLoss:
		return transient{err} // it had a result: it can have another
	case !retryable(err):
		if m := asMissing(err); m != nil {
			return m
		}
	}
	return err
}

// done judges the last message.
func (e *execution) done(ctx context.Context, op *longrunningpb.Operation) (*repb.ExecuteResponse, error) {
	e.name = "" // another attempt is another execution
	response := &repb.ExecuteResponse{}
	s := status.FromProto(op.GetError())
	if s.Code() == codes.OK {
		if err := op.GetResponse().UnmarshalTo(response); err != nil {
			return nil, err
		}
		s = status.FromProto(response.GetStatus())
	}
	switch {
	case response.Result != nil && (s.Code() == codes.OK || s.Code() == codes.DeadlineExceeded):
		return response, nil
	case s.Code() == codes.OK:
		return nil, errors.New("neither a result nor an error came of an action")
	case s.Code() == codes.DeadlineExceeded:
		return nil, errors.New("it gave up: " + s.Message()) // no attempt is quicker
	}
	if s.Code() == codes.DataLoss {
		return nil, transient{s.Err()}
	}
	if retryable(s.Err()) {
		return nil, s.Err()
	}
	if m := asMissing(s.Err()); m != nil {
		return nil, m
	}
	return nil, e.c.withDetails(ctx, s.Err(), response)
}

// abandonMax is how long it may take to tell an engine that a result is not wanted any more.
const abandonMax = 2 * time.Second

// abandon takes what nobody waits for out of the engine's queue. Engines may know nothing of
// that, so it is a wish, and the one that does not is not asked again.
func (e *execution) abandon(ctx context.Context) {
	if e.name == "" || ctx.Err() == nil || e.c.cannotCancel.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonMax)
	defer cancel()
	_, err := longrunningpb.NewOperationsClient(e.on).CancelOperation(ctx, &longrunningpb.CancelOperationRequest{Name: e.name})
	if status.Code(err) == codes.Unimplemented {
		e.c.cannotCancel.Store(true)
	}
}
