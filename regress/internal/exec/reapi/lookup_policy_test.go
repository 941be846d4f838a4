package reapi_test

import (
	"fmt"
	"testing"

	"muster/regress/internal/exec"
	"muster/test/kits/reapitest"
)

// Where nothing is known for a while, results are no longer asked for before the executions;
// and are again when one was spared.
func TestAskingForResults(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	s := w.mustStart(nil)
	job := s.cases[0]
	run := func(text string, fresh bool) (cached bool) {
		t.Helper()
		job.Content, job.Fresh = []byte(text), fresh
		r, err := exec.Run(t.Context(), s.Engine, job)
		if err != nil {
			t.Fatal(err)
		}
		return r.Engine.Cached
	}
	asked := func(of func()) int {
		before := w.Calls("GetActionResult")
		of()
		return w.Calls("GetActionResult") - before
	}
	if n := asked(func() {
		for i := range 40 {
			if run(fmt.Sprint(i), false) {
				t.Errorf("%d was known", i)
			}
		}
	}); n != 32 {
		t.Errorf("40 results that are not known were asked for %d times", n)
	}
	if n := asked(func() {
		if !run("1", false) {
			t.Error("what the engine spared itself counts as run")
		}
	}); n != 0 {
		t.Errorf("the first that is known was asked for %d times", n)
	}
	if n := asked(func() {
		run("2", false)
		run("3", true)
		run("a new one", false)
	}); n != 2 {
		t.Errorf("after one that was known, 2 were asked for %d times", n)
	}
}
