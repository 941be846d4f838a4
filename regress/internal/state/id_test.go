package state

import (
	"testing"
	"time"

	"muster/regress"
)

// TestRunsOfOneSecond: a run never gets the folder of another, for it would take the other's
// cases for its own.
func TestRunsOfOneSecond(t *testing.T) {
	s := Open(t.TempDir() + "/.muster")
	info := Info{Command: "check", Started: time.Unix(1, 0)}
	draws := []string{"aaaa", "aaaa", "aaaa", "bbbb"}
	draw := func() string {
		id := draws[0]
		draws = draws[1:]
		return id
	}
	first, err := s.newRun(info, draw)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.newRun(info, draw)
	if err != nil || first.ID == second.ID {
		t.Errorf("%s and %s, %v", first.ID, second.ID, err)
	}
	if _, err := s.newRun(info, func() string { return "aaaa" }); regress.ClassOf(err) != regress.Environment {
		t.Errorf("without an ID that is free: %v", err)
	}
}
