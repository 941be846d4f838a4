package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// BuildGrid says of an action that it has not, without naming it. Others use the same status for workers that are
// not there, and what is sent again does no harm then.
func TestMissingInOtherWords(t *testing.T) {
	for _, words := range []string{"Could not get action from storage.", "Could not get command from storage.", "No workers exist for platform {}"} {
		r := newRig(t, reapitest.Options{}, client.Options{})
		x := client.Execution{Action: r.action("cc")}
		r.storm(func(_ context.Context, c reapitest.Call) error {
			if c.Method == "Execute" {
				return status.Error(codes.FailedPrecondition, words)
			}
			return nil
		})
		_, err := r.Execute(t.Context(), x)
		if !errors.As(err, new(*client.MissingError)) || strings.Contains(err.Error(), "rpc error") {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// BuildGrid and others tell by DATA_LOSS that they had a result, and have it no more: the
// next execution gives another.
func TestResultLost(t *testing.T) {
	r := newRig(t, reapitest.Options{}, client.Options{})
	x := client.Execution{Action: r.action("cc")}
	r.storm(on("Execute", reapitest.Begin, codes.DataLoss, 1, 2))
	_, err := r.Execute(t.Context(), x)
	r.must(err)
}

// So they do of a content that is damaged: it is no more to be had than one that is gone.
func TestContentDamaged(t *testing.T) {
	r := newRig(t, reapitest.Options{Fault: on("Read", reapitest.Sending, codes.DataLoss, 1)}, client.Options{})
	b := noise(2 << 20)
	r.upload(b)
	if _, err := r.Read(t.Context(), b.Digest); !errors.As(err, new(*client.MissingError)) || r.engine.Calls("Read") != 1 {
		t.Errorf("asked %d times: %v", r.engine.Calls("Read"), err)
	}
}

// An engine without an action cache of its own for clients has Execute look.
func TestNoActionCache(t *testing.T) {
	r := newRig(t, reapitest.Options{Fault: on("GetActionResult", reapitest.Begin, codes.Unimplemented, 1)}, client.Options{})
	if _, known, err := r.Result(t.Context(), client.Execution{Action: noise(3).Digest}); known || err != nil {
		t.Errorf("known %t, %v", known, err)
	}
}

// A content that somebody else sent meanwhile is there, in whatever words an engine puts it.
func TestAlreadyThere(t *testing.T) {
	r := newRig(t, reapitest.Options{}, client.Options{Attempts: 2})
	r.storm(on("Write", reapitest.End, codes.AlreadyExists, 1))
	r.upload(noise(2 << 20))
	if n := r.engine.Calls("Write"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// Others may send the same while it is on its way: the engine then ends the stream early.
func TestAlreadyThereMidway(t *testing.T) {
	for _, zip := range []bool{false, true} {
		b := noise(4 << 20)
		var r *rig
		r = newRig(t, reapitest.Options{Zstd: zip, Fault: func(_ context.Context, c reapitest.Call) error {
			if c.Method == "Write" && c.Moment == reapitest.Received && c.Message == 3 {
				r.engine.Put(b.Bytes)
			}
			return nil
		}}, client.Options{Attempts: 1})
		r.upload(opened(b))
		if n := r.engine.Calls("Write"); n != 1 {
			t.Errorf("sent %d times", n)
		}
	}
}

// Each content of a batch has an answer of its own: what is put off is asked for again and the
// others are not, and what is refused is nobody else's failure.
func TestBatchOneByOne(t *testing.T) {
	blobs := contents(20, 300)
	for _, c := range []struct {
		code codes.Code
		want string // in the error of the one
	}{
		{codes.ResourceExhausted, ""}, {codes.Unavailable, ""}, {codes.AlreadyExists, ""},
		{codes.PermissionDenied, "PermissionDenied: not that one"}, {codes.InvalidArgument, "InvalidArgument: not that one"},
	} {
		var mu sync.Mutex
		asked := map[string]int{}
		r := newRig(t, reapitest.Options{Refuse: func(method string, d reapitest.Digest) error {
			mu.Lock()
			defer mu.Unlock()
			if asked[method+d.Hash]++; d == reapitest.DigestOf(blobs[7].Bytes) && method == "BatchUpdateBlobs" && asked[method+d.Hash] == 1 {
				return status.Error(c.code, "not that one")
			}
			return nil
		}}, client.Options{})
		err := r.Upload(t.Context(), blobs)
		if c.want == "" && err != nil || c.want != "" && (regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v", c.code, err)
		}
		mu.Lock() // what is refused ends Upload while others are under way
		for i, b := range blobs {
			if n := asked["BatchUpdateBlobs"+b.Digest.Hash.String()]; i != 7 && (n > 1 || n == 0 && c.want == "") {
				t.Errorf("%v: content %d was sent %d times", c.code, i, n)
			}
		}
		mu.Unlock()
	}
}

// BuildGrid takes so many requests at once, of which each execution is one until it has ended,
// and refuses all others meanwhile: they wait as long as executions end, and no longer.
func TestNoRoom(t *testing.T) {
	for _, moves := range []bool{true, false} {
		var r *rig
		var other client.Execution
		r = newRig(t, reapitest.Options{}, client.Options{Attempts: 7, Sleep: func(ctx context.Context, _ time.Duration) error {
			if moves {
				_, err := r.Execute(ctx, other)
				return err
			}
			return nil
		}})
		other.Action = r.action("cc")
		r.storm(on("GetActionResult", reapitest.Begin, codes.ResourceExhausted, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
		_, _, err := r.Result(t.Context(), client.Execution{Action: noise(4).Digest})
		if want := map[bool]int{true: 11, false: 7}[moves]; (err == nil) != moves || r.engine.Calls("GetActionResult") != want {
			t.Errorf("moves %t: asked %d times, %v", moves, r.engine.Calls("GetActionResult"), err)
		}
	}
}

// What an engine says beside a status helps whoever reads it.
func TestMessage(t *testing.T) {
	r := newRig(t, reapitest.Options{Run: func(context.Context, *reapitest.Engine, *repb.Action, *repb.Command) *repb.ExecuteResponse {
		return &repb.ExecuteResponse{Status: status.New(codes.PermissionDenied, "not you").Proto(), Message: "http://browser/action/7"}
	}}, client.Options{})
	_, err := r.Execute(t.Context(), client.Execution{Action: r.action("cc")})
	if regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "PermissionDenied: not you; http://browser/action/7") {
		t.Error(err)
	}
}

// What nobody waits for any longer is taken out of the engine's queue.
func TestCancelled(t *testing.T) {
	free := make(chan struct{})
	defer close(free)
	r := newRig(t, reapitest.Options{Run: func(context.Context, *reapitest.Engine, *repb.Action, *repb.Command) *repb.ExecuteResponse {
		<-free
		return nil
	}}, client.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := r.Execute(ctx, client.Execution{Action: r.action("cc"), Stage: func(repb.ExecutionStage_Value) { cancel() }})
	if !errors.Is(err, context.Canceled) || !slices.Equal(r.engine.Cancelled(), []string{"operations/1"}) {
		t.Errorf("%v, cancelled %q", err, r.engine.Cancelled())
	}
}
