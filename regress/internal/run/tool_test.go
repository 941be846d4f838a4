package run

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/state"
	"muster/regress/internal/tool"
)

// scriptTool returns a tool that is one script, and the path of the script.
func scriptTool(t *testing.T) (s *Tool, file string) {
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
	s, err = identifyTool(tool.Options{Commands: []*exec.Command{c}, Leave: func(string) bool { return false }}, false, filepath.Join(dir, "cache"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, file
}

func ignoreWarning(string) {}

// A change is the error of a run even if the last case ran, or an interrupt came, before anybody looked.
func TestToolChangesBeforeInterrupt(t *testing.T) {
	s, file := scriptTool(t)
	interrupted, interrupt := context.WithCancel(t.Context())
	_, end := s.watchAt(interrupted, nil, ignoreWarning)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n:\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	interrupt()
	changed, err := end(nil)
	if _, is := errors.AsType[*closure.Change](err); !changed || !is {
		t.Errorf("changed is %t, and the error %v", changed, err)
	}
}

// A tool that changes while cases run ends their context at the next look.
func TestToolChangesWhileCasesRun(t *testing.T) {
	s, file := scriptTool(t)
	ticks := make(chan time.Time)
	ctx, end := s.watchAt(t.Context(), ticks, ignoreWarning)
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
	changed, err := end(ctx.Err())
	if change, is := errors.AsType[*closure.Change](err); !changed || !is || change.Path != file {
		t.Errorf("changed is %t, and the error %v", changed, err)
	}
}

// A run without a tool in its identity has no results, so --resume accepts any tool.
func TestResumeWithoutTool(t *testing.T) {
	now := map[string]string{toolFile + "/a": "1 opened x", toolPlace + "/c": "absent"}
	if err := refuseChangedTool(map[string]string{corpusKey: "x"}, now, "run"); err != nil {
		t.Error(err)
	}
	was := map[string]string{toolFile + "/a": "2 opened x", toolPlace + "/c": "absent"}
	if err := refuseChangedTool(was, now, "run"); err == nil {
		t.Error("a change is accepted")
	}
	for key, value := range map[string]string{toolFile + "/a": "any opened x", toolPlace + "/c": "any", toolPlace + "/d": listed + "any"} {
		older := maps.Clone(now)
		older[key] = value
		if err := refuseChangedTool(older, now, "run"); err == nil || !strings.Contains(err.Error(), "an earlier muster began run") {
			t.Errorf("%s is %q: %v", key, value, err)
		}
	}
}

// Names in a listed folder that change while cases run touch the tool, even if they change back.
func TestFolderChangesAndChangesBack(t *testing.T) {
	s, _ := scriptTool(t)
	folder := t.TempDir()
	s.add(&closure.Closure{Places: []closure.Place{{Path: folder, State: closure.Own(nil).StateOf(folder, true), IsListed: true}}})
	ticks, warnings := make(chan time.Time), 0
	_, end := s.watchAt(t.Context(), ticks, func(string) { warnings++ })
	if err := os.Mkdir(filepath.Join(folder, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	ticks <- time.Now()
	ticks <- time.Now() // the look of the first tick has ended
	if err := os.Remove(filepath.Join(folder, "new")); err != nil {
		t.Fatal(err)
	}
	if changed, err := end(nil); changed || err != nil || warnings != 1 {
		t.Errorf("%t, %v, %d warnings", changed, err, warnings)
	}
	if got, want := s.Touched(), "the names in "+folder+" changed while cases ran"; got != want {
		t.Errorf("touched is %q, want %q", got, want)
	}
}

// Without a change the error of the run counts.
func TestToolDoesNotChange(t *testing.T) {
	s, _ := scriptTool(t)
	_, end := s.Watch(t.Context(), WatchEvery, &state.Run{Info: state.Info{Identity: map[string]string{}}}, ignoreWarning)
	own := errors.New("own")
	if changed, err := end(own); changed || !errors.Is(err, own) {
		t.Errorf("changed is %t, and the error %v", changed, err)
	}
}
