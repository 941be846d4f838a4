package main

import (
	"testing"
	"time"
)

// The simulation knows two limits: how long the lock is held, and how long the workers need.
func TestSimulateLimits(t *testing.T) {
	c := costs{submit: 10, take: 20, batch: 1}
	for _, limit := range []struct {
		processors int
		task       time.Duration
		want       float64 // ns for each task
	}{
		{64, 0, 40}, // submit, take, and find nothing more
		{2, time.Microsecond, 1020},
		{8, time.Microsecond, 255},
	} {
		if got := simulate(c, limit.processors, limit.task); got < 0.95*limit.want || got > 1.05*limit.want {
			t.Errorf("%d processors, tasks of %v: %.1f ns, want %.1f", limit.processors, limit.task, got, limit.want)
		}
	}
}
