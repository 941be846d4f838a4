package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

func TestExecute(t *testing.T) {
	for _, silent := range []bool{false, true} {
		r := newRig(t, reapitest.Options{Silent: silent}, client.Options{Priority: 3})
		x := client.Execution{Action: r.action("cc", "-c")}
		if _, known, err := r.Result(t.Context(), x); known || err != nil {
			t.Errorf("a result of what never ran: %v", err)
		}
		var stages []repb.ExecutionStage_Value
		x.Stage = func(s repb.ExecutionStage_Value) { stages = append(stages, s) }
		for i, cached := range []bool{false, true, false} {
			x.SkipCache = i == 2
			response, err := r.Execute(t.Context(), x)
			r.must(err)
			if string(response.Result.StdoutRaw) != "cc -c" || response.CachedResult != cached {
				t.Errorf("execution %d: %v", i, response)
			}
		}
		if !silent && !slices.Equal(stages[:2], []repb.ExecutionStage_Value{repb.ExecutionStage_EXECUTING, repb.ExecutionStage_COMPLETED}) {
			t.Errorf("stages %v", stages)
		}
		result, known, err := r.Result(t.Context(), x)
		if !known || err != nil || string(result.StdoutRaw) != "cc -c" {
			t.Errorf("result %v, %v", result, err)
		}
	}
}

// counted runs actions that wait for free, and counts them.
func counted(n *atomic.Int32, free <-chan struct{}) func(context.Context, *reapitest.Engine, *repb.Action, *repb.Command) *repb.ExecuteResponse {
	return func(ctx context.Context, _ *reapitest.Engine, _ *repb.Action, _ *repb.Command) *repb.ExecuteResponse {
		n.Add(1)
		select {
		case <-ctx.Done():
		case <-free:
		}
		return &repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 7}}
	}
}

// A stream that breaks is asked for by its name: the action runs once.
func TestExecuteBroken(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.Canceled, codes.DeadlineExceeded} {
		var ran atomic.Int32
		free := make(chan struct{})
		cut := func(_ context.Context, c reapitest.Call) error {
			switch {
			case c.Method == "WaitExecution" && c.Number == 3 && c.Moment == reapitest.Begin:
				close(free)
			case c.Method == "WaitExecution" && c.Number < 3 && c.Moment == reapitest.Begin:
				return status.Error(code, "cut")
			}
			return nil
		}
		r := newRig(t, reapitest.Options{Run: counted(&ran, free), Fault: cut}, client.Options{})
		x := client.Execution{Action: r.action("cc")}
		ctx, cancel := context.WithCancel(t.Context())
		x.Stage = func(repb.ExecutionStage_Value) { r.cut() }
		response, err := r.Execute(ctx, x)
		cancel()
		r.must(err)
		if ran.Load() != 1 || response.Result.ExitCode != 7 || r.engine.Calls("Execute") != 1 || r.engine.Calls("WaitExecution") != 3 {
			t.Errorf("%v: ran %d times, %d and %d requests", code, ran.Load(), r.engine.Calls("Execute"), r.engine.Calls("WaitExecution"))
		}
	}
}

// An engine that forgot what it was asked is asked anew.
func TestExecuteForgotten(t *testing.T) {
	var ran atomic.Int32
	free := make(chan struct{})
	r := newRig(t, reapitest.Options{Run: counted(&ran, free), Fault: func(_ context.Context, c reapitest.Call) error {
		if c.Method == "Execute" && c.Number == 2 && c.Moment == reapitest.Begin {
			close(free)
		}
		return nil
	}}, client.Options{})
	x := client.Execution{Action: r.action("cc"), Stage: func(s repb.ExecutionStage_Value) {
		if r.engine.Calls("Execute") == 1 {
			r.engine.ForgetOperations()
			r.cut()
		}
	}}
	_, err := r.Execute(t.Context(), x)
	r.must(err)
	if e, w := r.engine.Calls("Execute"), r.engine.Calls("WaitExecution"); e != 2 || w != 1 {
		t.Errorf("%d and %d requests", e, w)
	}
}

// Missing inputs are one error, however the engine puts it, and what it names is known.
func TestExecuteMissing(t *testing.T) {
	for _, code := range []codes.Code{codes.OK, codes.FailedPrecondition, codes.NotFound, codes.Internal} {
		r := newRig(t, reapitest.Options{MissingAs: code}, client.Options{})
		input := noise(20)
		blobs := actionOf([]string{"cc"}, &repb.Directory{Files: []*repb.FileNode{{Name: "a.c", Digest: input.Digest.Proto()}}})
		r.upload(blobs...)
		_, err := r.Execute(t.Context(), client.Execution{Action: blobs[0].Digest})
		missing := (*client.MissingError)(nil)
		if !errors.As(err, &missing) || regress.ClassOf(err) != regress.Environment || r.engine.Calls("Execute") != 1 {
			t.Fatalf("%v: %d requests, %v", code, r.engine.Calls("Execute"), err)
		}
		if want := []blob.Digest{input.Digest}; code == codes.OK && !slices.Equal(missing.Digests, want) || code != codes.OK && len(missing.Digests) > 0 {
			t.Errorf("%v: missing %v", code, missing.Digests)
		}
		r.upload(input)
		_, err = r.Execute(t.Context(), client.Execution{Action: blobs[0].Digest})
		r.must(err)
	}
}

// Some engines give the operation a name before they notice what is missing.
func TestExecuteMissingLater(t *testing.T) {
	for _, code := range []codes.Code{codes.FailedPrecondition, codes.NotFound} {
		r := newRig(t, reapitest.Options{}, client.Options{})
		x := client.Execution{Action: r.action("cc")}
		r.storm(func(_ context.Context, c reapitest.Call) error {
			if c.Method == "Execute" && c.Moment == reapitest.Sending && c.Message == 2 {
				return status.Error(code, "no such blob")
			}
			return nil
		})
		if _, err := r.Execute(t.Context(), x); !errors.As(err, new(*client.MissingError)) || r.engine.Calls("Execute") != 1 {
			t.Errorf("%v: %v", code, err)
		}
	}
}

// What an engine answers in the place of a result.
func TestExecuteStatuses(t *testing.T) {
	result := &repb.ActionResult{ExitCode: 1}
	for _, c := range []struct {
		response *repb.ExecuteResponse
		ran      int32
		want     string // in the error
	}{
		{&repb.ExecuteResponse{Result: result, Status: status.New(codes.DeadlineExceeded, "took too long").Proto()}, 1, ""},
		{&repb.ExecuteResponse{Status: status.New(codes.DeadlineExceeded, "no worker in time").Proto()}, 1, "no worker in time"},
		{&repb.ExecuteResponse{}, 1, "neither a result nor an error"},
		{&repb.ExecuteResponse{Result: result, Status: status.New(codes.Internal, "the worker's disk is full").Proto()}, 1, "Internal: the worker's disk is full"},
		{&repb.ExecuteResponse{Result: result, Status: status.New(codes.PermissionDenied, "not you").Proto()}, 1, "PermissionDenied: not you"},
		{&repb.ExecuteResponse{Result: result, Status: status.New(codes.InvalidArgument, "no such platform").Proto()}, 1, "InvalidArgument: no such platform"},
		{&repb.ExecuteResponse{Status: status.New(codes.Unavailable, "no worker").Proto()}, 3, "Unavailable: no worker"},
		{&repb.ExecuteResponse{Status: status.New(codes.ResourceExhausted, "queue full").Proto()}, 3, "ResourceExhausted: queue full"},
	} {
		var ran atomic.Int32
		r := newRig(t, reapitest.Options{Run: func(context.Context, *reapitest.Engine, *repb.Action, *repb.Command) *repb.ExecuteResponse {
			ran.Add(1)
			return c.response
		}}, client.Options{Attempts: 3})
		response, err := r.Execute(t.Context(), client.Execution{Action: r.action("cc")})
		switch {
		case ran.Load() != c.ran:
			t.Errorf("%v: ran %d times", c.response, ran.Load())
		case c.want == "" && (err != nil || response.Result == nil || response.Status.Code != int32(codes.DeadlineExceeded)):
			t.Errorf("%v, %v", response, err)
		case c.want != "" && (regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "rpc error")):
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
