package reapi_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/test/kits/reapitest"
)

// What the engine knows is not run again, unless it is to be.
func TestRunsOnceUnlessFresh(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	s := w.mustStart(nil)
	if s.partial != 0 || s.Floor() != 0 || s.OwnCPU() != 0 {
		t.Error("the whole folder can be had")
	}
	for _, j := range s.cases {
		s.wants(j, false)
		s.wants(j, true)
		j.Fresh = true
		s.wants(j, false)
	}
	if n := int(w.ran.Load()); n != 2*len(s.cases) {
		t.Errorf("%d executions of %d cases", n, len(s.cases))
	}
	// Another run has nothing to send but what shows that the tool runs.
	sent := w.Calls("BatchUpdateBlobs")
	again := w.mustStart(nil)
	for _, j := range again.cases {
		again.wants(j, true)
	}
	if n := w.Calls("BatchUpdateBlobs") - sent; n != 0 {
		t.Errorf("%d uploads of what is there", n)
	}
	if s.PreflightDigest() != again.PreflightDigest() || s.SharedDigest() != again.SharedDigest() {
		t.Error("the same has another digest")
	}
}

// What the engine says of a case that it could not run is no verdict, and a limit is one.
func TestEngineEndings(t *testing.T) {
	for _, c := range []struct {
		response *repb.ExecuteResponse
		want     regress.Ending
		class    regress.Class
	}{
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.DeadlineExceeded)}, Result: &repb.ActionResult{}}, regress.Ending{Kind: regress.TimedOut}, regress.None},
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.PermissionDenied), Message: "no"}}, regress.Ending{}, regress.Environment},
		{&repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: -1}}, regress.Ending{}, regress.Environment},
	} {
		w := newWorker(t, reapitest.Options{})
		s := w.mustStart(nil)
		w.tool = func([]string) *repb.ExecuteResponse { return c.response }
		r, err := exec.Run(t.Context(), s.Engine, s.cases[0])
		if regress.ClassOf(err) != c.class || err == nil && r.Outcome.Ending != c.want {
			t.Errorf("%v: %v", c.response, err)
		}
	}
}

// An interrupt ends a run, and is nobody's fault.
func TestInterrupted(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	s := w.mustStart(nil)
	ctx, cancel := context.WithCancel(t.Context())
	w.tool = func([]string) *repb.ExecuteResponse {
		cancel()
		return nil
	}
	j := s.cases[0]
	j.Fresh = true
	if r, err := exec.Run(ctx, s.Engine, j); err == nil {
		r.Release() // it was quicker
	} else if regress.ClassOf(err) != regress.Interrupted {
		t.Errorf("%v", err)
	}
}

// While a run is under way the engine's stage is known, and afterwards how long it took and
// what went over the network.
func TestStateOfRuns(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	running, end := make(chan struct{}), make(chan struct{})
	w.tool = func(arguments []string) *repb.ExecuteResponse {
		if !slices.Contains(arguments, "--version") {
			close(running)
			<-end
		}
		return nil
	}
	var did []string
	s := w.mustStart(func(o *reapi.Options) { o.Doing = func(what string) { did = append(did, what) } })
	if all := strings.Join(did, "; "); !strings.Contains(all, "sending what all cases share, ") || !strings.Contains(all, "its preflight, /usr/bin/cc --version") {
		t.Errorf("it said that it did %q", did)
	}
	done := make(chan *exec.Result)
	go func() {
		defer close(done)
		r, err := exec.Run(t.Context(), s.Engine, s.cases[0])
		if err != nil {
			t.Error(err)
			return
		}
		done <- r
	}()
	<-running
	// The stage comes on its own: it is waited for.
	for s.State() != (reapi.State{InFlight: 1, Running: 1}) && t.Context().Err() == nil {
		runtime.Gosched()
	}
	close(end)
	r := <-done
	if r == nil || r.Engine.Asked <= 0 || s.State() != (reapi.State{}) {
		t.Fatalf("%+v, and then %+v", r, s.State())
	}
	r.Release()
	if sent, received := s.conn.Traffic(); sent < 100 || received < 100 {
		t.Errorf("%d bytes sent, %d received", sent, received)
	}
}
