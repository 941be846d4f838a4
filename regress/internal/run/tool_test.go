package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress"
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
	s, err = identifyTool(tool.Options{Commands: []*exec.Command{c}}, false, filepath.Join(dir, "cache"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, file
}

func ignoreWarning(string) {}

// A tool that changes while cases run ends the run at the next look, as a failure of the
// environment that names the file and cannot be resumed.
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
	want := file + ", a file of the tool, changed while it ran"
	if err := end(ctx.Err()); regress.ClassOf(err) != regress.Environment || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
	id := map[string]string{}
	if !s.MarkMixed(id) || !strings.HasPrefix(id[mixedKey], want) {
		t.Errorf("the identity is %v", id)
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
	if err := end(nil); err != nil || warnings != 1 {
		t.Errorf("%v, %d warnings", err, warnings)
	}
	if got, want := s.Touched(), "the names in "+folder+" changed while it ran"; got != want {
		t.Errorf("touched is %q, want %q", got, want)
	}
}

// Without a change the error of the run counts.
func TestToolDoesNotChange(t *testing.T) {
	s, _ := scriptTool(t)
	_, end := s.Watch(t.Context(), WatchEvery, &state.Run{Info: state.Info{Identity: map[string]string{}}}, ignoreWarning)
	own := errors.New("own")
	if err := end(own); !errors.Is(err, own) {
		t.Errorf("the error is %v", err)
	}
	if id := map[string]string{}; s.MarkMixed(id) || len(id) > 0 {
		t.Errorf("the identity is %v", id)
	}
}
