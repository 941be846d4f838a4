package probe_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"muster/lab/probe"
)

// A goroutine has a stack of 2 KiB at least, and not much beside it. The race detector
// takes several times as much.
func TestWaiting(t *testing.T) {
	const count = 20_000
	said, err := exec.CommandContext(t.Context(), self(t), waitingArgument, strconv.Itoa(count)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var n, wall, stack, sys, resident int64
	if _, err := fmt.Sscan(string(said), &n, &wall, &stack, &sys, &resident); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	if n != count || wall <= 0 {
		t.Errorf("%d goroutines in %d ns", n, wall)
	}
	if runtime.GOOS != "linux" {
		resident = 2048 * count
	}
	for what, bytes := range map[string]int64{"stack": stack, "from the system": sys, "resident": resident} {
		if each := bytes / count; each < 2000 || each > 40_000 {
			t.Errorf("%s: %d bytes for each goroutine, want 2000 or somewhat more", what, each)
		}
	}
}

// What this process had before is not counted, though it goes meanwhile.
func TestWaitingFew(t *testing.T) {
	before := runtime.NumGoroutine()
	w := probe.Waiting(1)
	if w.Start.N != 1 || w.Stack > 1<<20 || w.Stack < -1<<20 {
		t.Errorf("%+v", w)
	}
	// Those that waited go once they are measured.
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
}
