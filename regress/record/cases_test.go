package record

import (
	"testing"
	"time"

	"muster/regress/internal/pass"
)

// TestUntilSecond checks that a lane waits for the last of its cases, and for no other.
func TestUntilSecond(t *testing.T) {
	c := newCases(make(pass.Durations, 4)) // the last one ran before this process began
	c.firstEnded[0], c.firstEnded[1], c.firstEnded[2] = 2*time.Second, 5*time.Second, 3*time.Second
	for want, indexes := range map[time.Duration][]int{3: {0}, 4: {2, 0}, 6: {1, 2}, 1: {3}} {
		var tasks []pass.Task
		for _, i := range indexes {
			tasks = append(tasks, pass.Task{Index: i})
		}
		if got := c.untilSecond(tasks, time.Second); got != want*time.Second {
			t.Errorf("%v: %v, want %v", indexes, got, want*time.Second)
		}
	}
}
