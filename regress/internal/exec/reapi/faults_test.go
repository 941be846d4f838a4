package reapi_test

import (
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/test/kits/reapitest"
)

// A result that the engine knows and cannot read is made once more; trouble is not passed over.
func TestKnownAndUnreadable(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	s := w.mustStart(nil)
	s.wants(s.cases[0], false)
	code := codes.Unknown
	w.storm(func(c reapitest.Call) error {
		if c.Method == "GetActionResult" {
			return status.Error(code, "what is this")
		}
		return nil
	})
	s.wants(s.cases[0], false)
	code = codes.PermissionDenied
	if r, err := exec.Run(t.Context(), s.Engine, s.cases[0]); regress.ClassOf(err) != regress.Environment {
		t.Errorf("%v, %v", r, err)
	}
}

// Inputs and outputs that the engine loses are sent and made again; not for ever.
func TestEvicted(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	s := w.mustStart(nil)
	w.Evict()
	s.wants(s.cases[0], false) // what all share is gone
	w.Evict()
	s.wants(s.cases[0], false) // the result is known, and the folder that it names is gone

	r, err := exec.Run(t.Context(), s.Engine, s.cases[1])
	if err != nil {
		t.Fatal(err)
	}
	w.Evict()
	p, _ := r.Outcome.Part(outcome.Key{Place: outcome.File, Path: assembler})
	if text, err := contentOf(r, p); err != nil || text != "; /usr/bin/cc y.c" {
		t.Errorf("an output that was gone: %q, %v", text, err)
	}
	w.storm(func(c reapitest.Call) error {
		if c.Method == "Execute" && c.Moment == reapitest.Begin {
			w.Evict()
		}
		return nil
	})
	if _, err := exec.Run(t.Context(), s.Engine, s.cases[2]); regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "FailedPrecondition: inputs are missing (3 attempts); its store needs more room") {
		t.Errorf("an engine that keeps nothing: %v", err)
	}
}

// An action on which the engine itself fails is executed three times. The error has the engine's words and no guess.
func TestInternalError(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	s := w.mustStart(nil)
	w.tool = func([]string) *repb.ExecuteResponse {
		return &repb.ExecuteResponse{Status: status.New(codes.Internal, "the worker crashed").Proto()}
	}
	before := w.Calls("Execute")
	_, err := exec.Run(t.Context(), s.Engine, s.cases[0])
	if n := w.Calls("Execute") - before; n != 3 || regress.ClassOf(err) != regress.Environment || !strings.HasSuffix(err.Error(), "executing: Internal: the worker crashed (3 attempts)") {
		t.Errorf("executed %d times: %v", n, err)
	}
}
