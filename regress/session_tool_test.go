package regress

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// watched is a session whose tool is one script, with the ticks by which it is looked at.
func watched(t *testing.T) (s *session, file string, ticks chan time.Time) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "tool")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := exec.Resolve([]string{file, "{in}"}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	ticks = make(chan time.Time)
	s = &session{o: &Options{}, state: state.Open(filepath.Join(dir, "state")), commands: crew.Commands{Main: c}, crew: crew.NewHere(crew.Options{}), ticks: ticks}
	s.reportTo(report.Tee{})
	if err := s.identifyTool(); err != nil {
		t.Fatal(err)
	}
	return s, file, ticks
}

// A tool that changes while cases run ends the run at the next look, as a failure of the
// environment that names the file and cannot be resumed.
func TestToolChangesMeanwhile(t *testing.T) {
	s, file, ticks := watched(t)
	ctx, end := s.watchTool(t.Context())
	ticks <- time.Now()
	if ctx.Err() != nil {
		t.Fatal("nothing changed yet")
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n:\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		select {
		case ticks <- time.Now():
		case <-ctx.Done(): // no more cases are handed out
		}
	}
	err := end(ctx.Err())
	if fault.ClassOf(err) != fault.Environment || !strings.HasPrefix(err.Error(), file+", a file of the tool, changed while it ran") || !s.ledger.Summary.Mixed {
		t.Errorf("%v, mixed %v", err, s.ledger.Summary.Mixed)
	}
}

// Without a change the error of the run counts.
func TestToolDoesNotChange(t *testing.T) {
	s, _, _ := watched(t)
	_, end := s.watchTool(t.Context())
	own := errors.New("own")
	if err := end(own); !errors.Is(err, own) || s.ledger.Summary.Mixed {
		t.Errorf("%v, mixed %v", err, s.ledger.Summary.Mixed)
	}
}
