package lab

import (
	"math"
	"runtime"
	"testing"
)

// Trials run without the caller's GOMAXPROCS, so it does not limit them.
func TestProcessorsAreNotTheCallers(t *testing.T) {
	callers := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(callers)
	runtime.SetDefaultGOMAXPROCS()
	want := runtime.GOMAXPROCS(0)
	t.Setenv("GOMAXPROCS", "77")
	runtime.GOMAXPROCS(77)
	if got := processors(); got != want {
		t.Errorf("%d processors, want %d", got, want)
	}
	if got := runtime.GOMAXPROCS(0); got != 77 {
		t.Errorf("the caller's GOMAXPROCS is %d afterwards", got)
	}
}

func TestMemoryText(t *testing.T) {
	for bytes, want := range map[uint64]string{0: "", 25_270_000_000: "25.3 GB"} {
		if got := memoryText(bytes); got != want {
			t.Errorf("%d bytes: %q, want %q", bytes, got, want)
		}
	}
}

func TestQuotaText(t *testing.T) {
	for quota, want := range map[float64]string{math.Inf(1): noQuota, 1.5: "1.5", 2: "2", 1.0 / 3: "0.3333"} {
		if got := quotaText(quota); got != want {
			t.Errorf("%v processors: %q, want %q", quota, got, want)
		}
	}
}
