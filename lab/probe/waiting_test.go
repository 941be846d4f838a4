package probe_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"muster/lab/probe"
)

// A goroutine has a stack of at least 2 KiB and little else. The race detector multiplies
// that.
func TestWaiting(t *testing.T) {
	const count = 20_000
	output, err := exec.CommandContext(t.Context(), self(t), waitingArgument, strconv.Itoa(count)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var n, wall, stack, sys, resident int64
	if _, err := fmt.Sscan(string(output), &n, &wall, &stack, &sys, &resident); err != nil {
		t.Fatalf("%q: %v", output, err)
	}
	if n != count || wall <= 0 {
		t.Errorf("%d goroutines in %d ns", n, wall)
	}
	if runtime.GOOS != "linux" {
		resident = 2048 * count
	}
	for what, bytes := range map[string]int64{"stack": stack, "from the system": sys, "resident": resident} {
		if each := bytes / count; each < 2000 || each > 40_000 {
			t.Errorf("%s: %d bytes for each goroutine, want 2000 or a little more", what, each)
		}
	}
}

// Memory that the process held before does not count, even if it is freed meanwhile.
func TestWaitingFew(t *testing.T) {
	before := runtime.NumGoroutine()
	w := probe.Waiting(1)
	if w.Start.N != 1 || w.Stack > 1<<20 || w.Stack < -1<<20 {
		t.Errorf("%+v", w)
	}
	// The goroutines end after the measurement.
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
}
