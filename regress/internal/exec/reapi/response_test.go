package reapi

import (
	"fmt"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"

	"muster/regress"
	"muster/regress/internal/exec"
)

func TestEndings(t *testing.T) {
	shell := Compiler()
	shell.Shell = true
	for _, c := range []struct {
		name    string
		code    int32
		timeout bool
		command *exec.Command
		want    string // of the ending; "" = an error of class Environment
	}{
		{"passed", 0, false, Compiler(), "exit 0"},
		{"failed", 128, false, Compiler(), "exit 128"},
		{"crashed", 139, false, Compiler(), "signal 11 (SIGSEGV)"},
		{"of a shell", 139, false, shell, "exit 139"},
		{"above all signals", 255, false, Compiler(), "exit 255"},
		{"out of time", 137, true, Compiler(), "timed-out"},
		{"of no command", -2, false, Compiler(), ""},
	} {
		s := store{}
		r := s.left(t, nil)
		r.ExitCode = c.code
		got, err := actionOf(t, setting(), c.command).resultOf(t.Context(), response{result: r, timedOut: c.timeout}, s.contents())
		if c.want == "" {
			if regress.ClassOf(err) != regress.Environment {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err != nil || got.Outcome.Ending.String() != c.want || got.Outcome.ByStatus != (c.code == 139) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestResponseOf(t *testing.T) {
	r := &repb.ActionResult{}
	for name, c := range map[string]struct {
		response *repb.ExecuteResponse
		want     string
	}{
		"ran":            {&repb.ExecuteResponse{Result: r}, "ran"},
		"ran out":        {&repb.ExecuteResponse{Result: r, Status: &status.Status{Code: int32(codes.DeadlineExceeded)}}, "timed-out"},
		"never ran":      {&repb.ExecuteResponse{Status: &status.Status{Code: int32(codes.DeadlineExceeded)}}, "environment"},
		"worker is gone": {&repb.ExecuteResponse{Result: r, Status: &status.Status{Code: int32(codes.Unavailable)}}, "environment"},
		"nothing":        {&repb.ExecuteResponse{}, "environment"},
	} {
		resp, err := responseOf(c.response)
		got := map[bool]string{true: "timed-out", false: "ran"}[resp.timedOut]
		if err != nil {
			got = fmt.Sprint(map[regress.Class]string{regress.Environment: "environment"}[regress.ClassOf(err)])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s: %v", name, got, c.want, err)
		}
	}
}
