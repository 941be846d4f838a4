package client

import (
	"context"
	"errors"
	"io"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
)

// Execution requests the execution of an action. Upload its inputs first. Action is required.
type Execution struct {
	Action    blob.Digest
	Target    string // its purpose, for the engine's records
	SkipCache bool   // execute even if the result is cached

	// Stage, if not nil, receives each stage that the engine reports, in the caller's
	// goroutine. Engines may leave out any stage.
	Stage func(repb.ExecutionStage_Value)
}

// Result returns the cached result of an action. It returns false if the engine has none.
func (c *Client) Result(ctx context.Context, x Execution) (result *repb.ActionResult, known bool, err error) {
	ctx = ofAction(ctx, x)
	err = c.retries().do(ctx, gettingResult, func() (err error) {
		result, err = c.cache.GetActionResult(ctx, &repb.GetActionResultRequest{
			InstanceName: c.o.Instance, ActionDigest: x.Action.Proto(), DigestFunction: repb.DigestFunction_SHA256,
			InlineStdout: true, InlineStderr: true,
		})
		known = err == nil
		if code := status.Code(err); code == codes.NotFound || code == codes.Unimplemented {
			return nil // without a cache for clients, Execute still looks in the engine's own
		}
		return err
	})
	return result, known, err
}

// StoreResult leaves the result of an action in the service's cache. Upload its contents first.
func StoreResult(ctx context.Context, c *Client, action blob.Digest, result *repb.ActionResult) error {
	return c.retries().do(ctx, sendingResult, func() error {
		_, err := c.cache.UpdateActionResult(ctx, &repb.UpdateActionResultRequest{
			InstanceName: c.o.Instance, ActionDigest: action.Proto(), ActionResult: result, DigestFunction: repb.DigestFunction_SHA256,
		})
		return err
	})
}

// IsReadOnly reports whether the service takes no results of clients.
func IsReadOnly(c *Client) bool { return c.readOnly }

// Execute executes an action and returns the result. Its status is OK, or DEADLINE_EXCEEDED if
// the action ran into its timeout. Everything else is an error of class Environment. It wraps a
// MissingError if contents may be missing. A response may have up to messageMax bytes.
func (c *Client) Execute(ctx context.Context, x Execution) (*repb.ExecuteResponse, error) {
	ctx, cancel := context.WithTimeoutCause(ofAction(ctx, x), c.o.ExecutionTimeout, c.noResult)
	defer cancel()
	o := &operation{c: c, x: x, on: c.forExecution()}
	r := c.retries()
	var response *repb.ExecuteResponse
	err := r.do(ctx, executing, func() (err error) {
		began := time.Now()
		response, err = o.follow(ctx)
		// A stream that lived for a while does not count as a failed attempt. Otherwise a
		// proxy's time limit would end long actions.
		if o.received && time.Since(began) >= c.o.BackoffMax {
			r.progressed()
		}
		return err
	})
	if err != nil {
		o.cancel(ctx)
		return nil, err
	}
	c.executed.Add(1)
	return response, nil
}

// operation is an execution. It may take several streams.
type operation struct {
	c        *Client
	x        Execution
	on       *grpc.ClientConn
	name     string // name of the operation, once the engine has sent it
	resumed  bool   // the latest stream was opened with that name
	stage    repb.ExecutionStage_Value
	received bool // the latest stream has sent something
}

// follow opens a stream and reads it up to the result.
func (o *operation) follow(ctx context.Context) (*repb.ExecuteResponse, error) {
	o.received = false
	watch := o.watchdog(ctx)
	defer watch.end()
	stream, err := o.open(watch.ctx)
	for err == nil {
		var op *longrunningpb.Operation
		if op, err = stream.Recv(); err != nil {
			break
		}
		if o.observe(op); o.name != "" {
			watch.progressed()
		}
		if op.GetDone() {
			return o.finish(op)
		}
	}
	return nil, o.interrupted(watch.cause(err))
}

// watchdog ends a silent stream. An execution without a name cannot be asked for again, and it may be running. So its
// stream may be silent until the time limit of the execution.
func (o *operation) watchdog(ctx context.Context) *watchdog {
	w := newWatchdog(ctx, o.c.o.Silence)
	if o.name == "" {
		w.timer.Stop()
	}
	return w
}

func (o *operation) open(ctx context.Context) (grpc.ServerStreamingClient[longrunningpb.Operation], error) {
	if o.resumed = o.name != ""; o.resumed {
		return repb.NewExecutionClient(o.on).WaitExecution(ctx, &repb.WaitExecutionRequest{Name: o.name})
	}
	req := &repb.ExecuteRequest{
		InstanceName: o.c.o.Instance, ActionDigest: o.x.Action.Proto(), SkipCacheLookup: o.x.SkipCache,
		DigestFunction: repb.DigestFunction_SHA256, InlineStdout: true, InlineStderr: true,
	}
	if o.c.o.Priority != 0 {
		req.ExecutionPolicy = &repb.ExecutionPolicy{Priority: o.c.o.Priority}
	}
	return repb.NewExecutionClient(o.on).Execute(ctx, req)
}

// observe reads the name and the stage from a message.
func (o *operation) observe(op *longrunningpb.Operation) {
	o.received = true
	if op.GetName() != "" {
		o.name = op.GetName()
	}
	about := &repb.ExecuteOperationMetadata{}
	if err := op.GetMetadata().UnmarshalTo(about); err != nil || about.Stage == o.stage {
		return
	}
	if o.stage = about.Stage; o.x.Stage != nil {
		o.x.Stage(about.Stage)
	}
}

// interrupted decides whether and how to repeat the request after a stream ended without a
// result.
func (o *operation) interrupted(err error) error {
	code := status.Code(err)
	switch {
	case errors.Is(err, io.EOF):
		return transient{errors.New("the stream ended without a result")}
	case o.resumed && (code == codes.NotFound || code == codes.Unimplemented):
		o.name = "" // the engine has forgotten it, so the action is executed anew
		return transient{err}
	case code == codes.DataLoss:
		return transient{err} // it had a result, so it can produce another
	case code == codes.Internal && o.name != "":
		return err // the stream broke, and the execution goes on
	case !retryable(err):
		if m := asMissing(err); m != nil {
			return m
		}
	}
	return err
}

// finish judges the last message.
func (o *operation) finish(op *longrunningpb.Operation) (*repb.ExecuteResponse, error) {
	o.name = "" // another attempt is another execution
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
		return nil, errors.New("it gave up: " + s.Message()) // another attempt would take as long
	}
	if s.Code() == codes.DataLoss {
		return nil, transient{s.Err()}
	}
	if retryable(s.Err()) {
		return nil, s.Err()
	}
	if text := response.GetMessage(); text != "" { // such as the address of a page about the action
		p := s.Proto()
		p.Message += "; " + text
		s = status.FromProto(p)
	}
	if m := asMissing(s.Err()); m != nil {
		return nil, m
	}
	return nil, s.Err()
}

// cancelMax bounds the time for cancelling an operation.
const cancelMax = 2 * time.Second

// cancel asks the engine to drop an execution that nobody waits for. Engines need not support that.
func (o *operation) cancel(ctx context.Context) {
	if o.name == "" || ctx.Err() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelMax)
	defer cancel()
	_, _ = longrunningpb.NewOperationsClient(o.on).CancelOperation(ctx, &longrunningpb.CancelOperationRequest{Name: o.name})
}
