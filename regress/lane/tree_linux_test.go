package lane

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// TestKillReapsBeforeItGivesUp checks that a process that ended after the last look does not
// count as stuck.
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
	tree := tree{pid: child.Pid, killBegan: long, lastProgress: long}
	if tree.kill(time.Second) {
		t.Error("an ended process is given up")
	}
	if !tree.commandEnded {
		t.Error("its end is not seen")
	}
}
