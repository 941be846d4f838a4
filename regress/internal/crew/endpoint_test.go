package crew

import (
	"math"
	"muster/regress"
	"strings"
	"testing"
	"time"
)

// A case that may run for hours is waited for as long, and for its worker besides.
func TestExecutionIsWaitedFor(t *testing.T) {
	for _, timeout := range []time.Duration{time.Minute, 5 * time.Hour, math.MaxInt64} {
		e := Endpoint{Timeout: timeout}
		if got := e.dialOptions(nil).ExecutionTimeout; got < min(timeout, 1000*time.Hour)+workerWaitMax {
			t.Errorf("with --timeout %v it is given up after %v", timeout, got)
		}
	}
}

func TestSendsFile(t *testing.T) {
	e := Endpoint{Remote: regress.Remote{Inputs: []string{"tools/", "one"}}}
	for file, want := range map[string]bool{"./tools/cc": true, "tools": true, "one": true, "./two": false, "toolsx/cc": false, "../tools/cc": false} {
		if e.sendsFile(file) != want {
			t.Errorf("%s travels: %t", file, !want)
		}
	}
}

func TestCheckJobs(t *testing.T) {
	if err := CheckJobs(2); err != nil {
		t.Error(err)
	}
	if err := CheckJobs(1000); regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), "--jobs 1000: ") {
		t.Error(err)
	}
}
