package reapi_test

import (
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

// A tool that does not run is the environment's fault, told in its own words, and no case
// runs.
func TestPreflightFails(t *testing.T) {
	for _, c := range []struct {
		response *repb.ExecuteResponse
		says     string
	}{
		{&repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 127, StderrRaw: []byte("sh: cc:\n\x1b not found\n")}}, "its preflight /usr/bin/cc --version ended with exit 127: sh: cc: %1B not found"},
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.InvalidArgument), Message: "no such container"}}, "no such container"},
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.DeadlineExceeded)}, Result: &repb.ActionResult{}}, "timed-out"},
	} {
		w := newWorker(t, reapitest.Options{})
		w.tool = func([]string) *repb.ExecuteResponse { return c.response }
		_, err := w.start(nil)
		if regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
		if n := w.Calls("Execute"); c.response.Result != nil && n != 1 {
			t.Errorf("%s: it ran %d times", c.says, n)
		}
	}
}

func TestPreflightOfChoice(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	var said []string
	w.tool = func(arguments []string) *repb.ExecuteResponse {
		if len(said) == 0 {
			said = arguments
		}
		return nil
	}
	w.mustStart(func(o *reapi.Options) { o.Preflight = []string{"/usr/bin/cc", "-v", "--version"} })
	if !slices.Equal(said, []string{"/usr/bin/cc", "-v", "--version"}) {
		t.Errorf("%q", said)
	}
}

// A command of which a case runs later has its preflight then. What the run began with stays
// as it was, and nothing is told twice.
func TestPreflightLater(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	w.whole = "no way"
	later := reapi.Compiler()
	s := w.mustStart(func(o *reapi.Options) { o.Later = []*exec.Command{later} })
	before, ran := s.PreflightDigest(), w.Calls("Execute")
	job := s.cases[0]
	job.Command, job.Fresh = later, true
	r, err := exec.Run(t.Context(), s.Engine, job)
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
	if n := w.Calls("Execute") - ran; n != 2 {
		t.Errorf("%d executions of a preflight and a case", n)
	}
	if s.PreflightDigest() != before || s.partial != 1 {
		t.Errorf("told %d times, and what the preflights gave is another: %t", s.partial, s.PreflightDigest() != before)
	}
}
