package readable_test

import (
	"testing"

	"muster/internal/readable"
)

func TestCases(t *testing.T) {
	for n, want := range map[int]string{0: "0 cases", 1: "1 case", 2: "2 cases", 15_000: "15,000 cases"} {
		if got := readable.Cases(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
