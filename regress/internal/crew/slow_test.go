package crew

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/report"
)

// A case whose lane died starts again, and so does its clock.
func TestReportSlowAfterDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		e := reportSlow(twice{}, 2*time.Second, func(report.Event) { told++ })
		if _, err := exec.Run(t.Context(), e, exec.Job{}); err != nil || told != 1 {
			t.Errorf("%d reports, %v, want 1", told, err)
		}
	})
}

// twice starts each job twice: for one second, and then for three.
type twice struct{ exec.Executor }

func (twice) RunAll(_ context.Context, b exec.Batch) int {
	b.Started(0)
	<-time.After(time.Second)
	b.Started(0)
	<-time.After(3 * time.Second)
	b.Ended(0, nil, nil)
	return 1
}
