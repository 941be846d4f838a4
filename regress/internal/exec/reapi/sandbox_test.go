package reapi_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/test/kits/reapitest"
)

// What a sandbox says when its worker's disk is full is no outcome of the tool, though the
// engine has it for one and keeps it: it is tried again, and in the end environment.
func TestSandboxFails(t *testing.T) {
	for _, inline := range []bool{true, false} {
		w := newWorker(t, reapitest.Options{})
		s := w.mustStart(nil)
		var fails atomic.Int32
		w.tool = func(arguments []string) *repb.ExecuteResponse {
			if slices.Contains(arguments, "--version") || fails.Add(-1) < 0 {
				return nil
			}
			said := blob.Of([]byte("bwrap: execvp " + arguments[0] + ": Input/output error\n"))
			if r := (&repb.ActionResult{ExitCode: 1, StderrDigest: w.Put(said.Bytes).Proto()}); !inline {
				return &repb.ExecuteResponse{Result: r}
			}
			return &repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 1, StderrRaw: said.Bytes}}
		}
		fails.Store(2)
		s.wants(s.cases[0], false)
		fails.Store(9)
		_, err := exec.Run(t.Context(), s.Engine, s.cases[1])
		if regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "sandbox did not start it: execvp /usr/bin/cc: Input/output error") || fails.Load() != 6 {
			t.Errorf("%d executions left of 9: %v", fails.Load(), err)
		}
		fails.Store(0)
		s.wants(s.cases[1], false) // what the engine kept of it does not count
	}
}
