package check

import (
	"slices"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// The error of an interrupted run says what it lacks.
func TestDescribeInterrupt(t *testing.T) {
	for want, sum := range map[string]regress.Summary{
		"interrupted: all cases have their verdicts, but the cost of the change is not measured": {},
		"interrupted: 2 of 1,000 cases did not run":                                              {NotRun: 2},
		"interrupted: 0 of 1,000 cases did not run, and 1 differed and did not run again": {
			Verdicts: regress.Verdicts{regress.DifferedOnce: 1},
		},
	} {
		if got := describeInterrupt(&sum, 1000); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Each shared file that differs is counted and named once.
func TestCompareShared(t *testing.T) {
	a, b := outcome.Of([]byte("a")), outcome.Of([]byte("b"))
	was := map[string]outcome.Digest{"same.h": a, "changed.h": a, "removed.h": a}
	is := map[string]outcome.Digest{"same.h": a, "changed.h": b, "added.h": b}
	var found regress.Sources
	names := compareShared(&found, was, is)
	if !slices.Equal(names, []string{"added.h", "changed.h", "removed.h"}) || !slices.Equal(found.SharedNames, names) {
		t.Errorf("%q, %q", names, found.SharedNames)
	}
	if found.Shared != 4 || found.SharedAdded != 1 || found.SharedChanged != 1 || found.SharedRemoved != 1 {
		t.Errorf("%+v", found)
	}
}
