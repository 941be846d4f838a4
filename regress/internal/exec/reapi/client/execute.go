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
	err = c.retries().do(ctx, gettingResult, func() (err error) {
		if result, err = c.getResult(ctx, x, true, resultMax); tooLarge(err) {
			result, err = c.getLargeResult(ctx, x)
		}
		known = err == nil
		if code := status.Code(err); code == codes.NotFound || code == codes.Unimplemented {
			return nil // without a cache for clients, Execute still looks
		}
		return err
	})
	return result, known, err
}

// getLargeResult asks without what a result can have inline. How large one is nobody says before
// it is here, so few are asked for at once.
func (c *Client) getLargeResult(ctx context.Context, x Execution) (*repb.ActionResult, error) {
	if err := c.largeResults.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer c.largeResults.Release(1)
	return c.getResult(ctx, x, false, messageMax)
}

// getResult asks for a result once, with what it can have inline or without.
func (c *Client) getResult(ctx context.Context, x Execution, inline bool, most int) (*repb.ActionResult, error) {
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
	ctx, cancel := context.WithTimeoutCause(ofAction(ctx, x), c.o.ExecutionTimeout,
		c.failed(executing, fmt.Errorf("no result within %v", c.o.ExecutionTimeout)))
	defer cancel()
	o := &operation{c: c, x: x, on: c.forExecution()}
	r := c.retries()
	var response *repb.ExecuteResponse
	err := r.do(ctx, executing, func() (err error) {
		began := time.Now()
		response, err = o.follow(ctx)
		// A stream that lived for a while is no failed attempt, or long actions would end
		// with the patience of some proxy.
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
