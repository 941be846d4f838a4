package timing

import (
	"os"
	"testing"
	"time"
)

func TestKernelsFigures(t *testing.T) {
	stat := "8730 (a (b) c) S 1 8717 13337 0 -1 4194560 2027724 2420244 1 84 4095 5031 1896 2740 20 0 21 0 111"
	if got := cpuIn([]byte(stat)); got != 137620*time.Millisecond {
		t.Errorf("%v", got)
	}
	if got := peakOf(os.Getpid()); got < 1<<20 {
		t.Errorf("this process has had %d bytes at most", got)
	}
	if got := peakOf(-1); got != 0 {
		t.Errorf("no process has had %d bytes", got)
	}
	if got := WatchPeak(os.Getpid())(); got < 1<<20 {
		t.Errorf("this process had %d bytes while it was watched", got)
	}
	if got := CPUOf(-1); got != 0 {
		t.Errorf("no process has taken %v", got)
	}
}
