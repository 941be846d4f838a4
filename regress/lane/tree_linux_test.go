package lane

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// TestKillReapsBeforeItGivesUp: a process that ended after the last look is not one that
// SIGKILL does not end.
func TestKillReapsBeforeItGivesUp(t *testing.T) {
	child, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	status := "/proc/" + strconv.Itoa(child.Pid)
	for deadline := time.Now().Add(time.Minute); stateOf(status) != 'Z'; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the process does not end")
		}
	}
	long := time.Now().Add(-time.Hour)
	tree := tree{pid: child.Pid, ending: long, killed: long}
	if tree.kill(time.Second) {
		t.Error("an ended process is given up")
	}
	if !tree.over {
		t.Error("its end is not seen")
	}
}
