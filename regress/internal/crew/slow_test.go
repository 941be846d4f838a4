package crew

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/report"
)

// sleeper runs each job for the time that its source's size says, in seconds.
type sleeper struct{ exec.Executor }

func (s sleeper) RunAll(_ context.Context, b exec.Batch) int {
	for i, j := range b.Jobs {
		b.Started(i)
		<-time.After(time.Duration(j.Source.Size) * time.Second)
		b.Ended(i, nil, nil)
	}
	return len(b.Jobs)
}

// A run is reported at each multiple of the limit, and not after its end.
func TestReportSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []report.Note
		e := reportSlow(sleeper{}, 2*time.Second, func(ev report.Event) { notes = append(notes, ev.(report.Note)) })
		job := func(name string, seconds int64) exec.Job {
			return exec.Job{Source: corpus.Entry{Name: name, Size: seconds}}
		}
		observed := job("observed", 9)
		observed.Observe = true
		e.RunAll(t.Context(), exec.Batch{
			Jobs:    []exec.Job{job("quick", 1), job("slow", 5), observed, job("quick", 1)},
			Started: func(int) {},
			Ended:   func(int, *exec.Result, error) {},
		})
		if _, err := exec.Run(t.Context(), e, job("alone", 3)); err != nil {
			t.Error(err)
		}
		<-time.After(time.Minute)
		want := []report.Note{report.SlowNote("slow", 2*time.Second), report.SlowNote("slow", 4*time.Second), report.SlowNote("alone", 2*time.Second)}
		if !slices.Equal(notes, want) {
			t.Errorf("got %+v\nwant %+v", notes, want)
		}
	})
}

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
