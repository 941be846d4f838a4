package reapi_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/test/kits/reapitest"
)

// While an engine takes its time and enough cases wait for it, others are not asked for, so
// that several are together when it goes on. One that is given up meanwhile does not wait.
func TestBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t, reapitest.Options{})
		hold := make(chan struct{})
		w.tool = func(arguments []string) *repb.ExecuteResponse {
			if !slices.Contains(arguments, "--version") {
				<-hold
			}
			return nil
		}
		s := w.mustStart(func(o *reapi.Options) { o.Jobs = 8 })
		var running sync.WaitGroup
		n := 0
		more := func(count int) {
			for range count {
				j := s.cases[0]
				j.Content = []byte(strconv.Itoa(n))
				n++
				running.Go(func() { s.wants(j, false) })
			}
			synctest.Wait()
		}
		more(8 + 2) // one more than is enough
		more(5)
		if asked := w.Calls("GetActionResult"); asked != 10 {
			t.Errorf("with 8 executed and 2 that wait, %d were asked for", asked)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r, err := exec.Run(ctx, s.Engine, s.cases[1]); !errors.Is(err, context.Canceled) {
			t.Errorf("a case that was given up gave %v, %v", r, err)
		}
		close(hold)
		running.Wait()
		if ran := int(w.ran.Load()); ran != n {
			t.Errorf("%d of %d were executed", ran, n)
		}
	})
}
