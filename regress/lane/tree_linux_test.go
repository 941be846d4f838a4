package lane

import (
	"os"
	"runtime"
	"strconv"
	"strings"
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
	ended := func() bool {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(child.Pid) + "/stat")
		return strings.Contains(string(text), ") Z ")
	}
	for deadline := time.Now().Add(time.Minute); !ended(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the process does not end")
		}
	}
	long := time.Now().Add(-time.Hour)
	tree := tree{pid: child.Pid, lastProgress: long}
	if tree.kill(time.Second) {
		t.Error("an ended process is given up")
	}
	if !tree.commandEnded {
		t.Error("its end is not seen")
	}
}
