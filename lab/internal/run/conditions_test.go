package run

import (
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
	if got := Processors(); got != want {
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
