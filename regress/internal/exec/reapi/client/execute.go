package client

import (
	"context"
	"fmt"
	"time"

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
		if result, err = c.getResult(ctx, x, true, resultMax); tooLarge(err) {
			result, err = c.getLargeResult(ctx, x)
		}
		known = err == nil
		if code := status.Code(err); code == codes.NotFound || code == codes.Unimplemented {
			return nil // without a cache for clients, Execute still looks in the engine's own
		}
		return err
	})
	return result, known, err
}

// getLargeResult asks for a result without inline contents. The size of such a result is not
// known in advance, so few are requested at once.
func (c *Client) getLargeResult(ctx context.Context, x Execution) (*repb.ActionResult, error) {
	if err := c.largeResults.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer c.largeResults.Release(1)
	return c.getResult(ctx, x, false, messageMax)
}

// getResult asks for a result once, with or without inline contents.
func (c *Client) getResult(ctx context.Context, x Execution, inline bool, most int) (*repb.ActionResult, error) {
	return c.cache.GetActionResult(ctx, &repb.GetActionResultRequest{
		InstanceName: c.o.Instance, ActionDigest: x.Action.Proto(), DigestFunction: repb.DigestFunction_SHA256,
		InlineStdout: inline, InlineStderr: inline,
	}, grpc.MaxCallRecvMsgSize(most))
}

// Execute executes an action and returns the result. Its status is OK, or DEADLINE_EXCEEDED if
// the action ran into its timeout. Everything else is an error of class Environment. It wraps a
// MissingError if contents may be missing.
//
// A response may have up to 16 MiB. The client holds only a few of more than 4 MiB at once, for
// all callers. Other callers wait. A returned response belongs to its caller.
func (c *Client) Execute(ctx context.Context, x Execution) (*repb.ExecuteResponse, error) {
	ctx, cancel := context.WithTimeoutCause(ofAction(ctx, x), c.o.ExecutionTimeout,
		c.failed(executing, fmt.Errorf("no result within %v", c.o.ExecutionTimeout)))
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
