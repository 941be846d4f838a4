package pastrun_test

import (
	"testing"

	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// Other marks make another run, so that a failed accept leaves nothing behind.
func TestWithMarksKeepsTheRun(t *testing.T) {
	run := &pastrun.Run{Results: []state.Result{{Name: []byte("a")}, {Name: []byte("b"), Accepted: true}}}
	marked := run.WithMarks(pastrun.Marks{true, false})
	if run.Results[0].Accepted || !run.Results[1].Accepted {
		t.Errorf("the run has changed: %+v", run.Results)
	}
	isAccepted := pastrun.AcceptedIn(marked.Results)
	if !isAccepted("a") || isAccepted("b") || isAccepted("c") {
		t.Errorf("marked: %+v", marked.Results)
	}
}
