package tool_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/tool"
)

// look gives a watch one tick, and waits until it has looked.
func look(ticks chan<- time.Time) {
	ticks <- time.Now()
	ticks <- time.Now() // taken when the look before is over
}

// firstChange gives ticks until a change is reported.
func firstChange(ticks chan<- time.Time, changes <-chan error) error {
	for {
		select {
		case ticks <- time.Now():
		case err := <-changes:
			return err
		}
	}
}

// The first change is reported at the next look, and once; a file that holds again what it
// held is no change, and is named at the end.
func TestWatch(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(file string) error
		want    string // the error
		touched bool
	}{
		"nothing": {change: func(string) error { return nil }},
		"content": {change: func(file string) error { return os.WriteFile(file, []byte("#!/bin/sh\n:\n"), 0o755) }, want: "its content changed"},
		"other file": {change: func(file string) error {
			return errors.Join(os.WriteFile(file+".new", []byte("#!/bin/sh\n:"), 0o755), os.Rename(file+".new", file))
		}, want: "its content changed"},
		"same content": {change: func(file string) error {
			return errors.Join(os.WriteFile(file+".new", []byte("#!/bin/sh\n"), 0o755), os.Rename(file+".new", file))
		}, touched: true},
		"folder": {change: func(file string) error { // at once: a look in between would find it gone
			return errors.Join(os.Mkdir(file+".new", 0o755), unix.Renameat2(unix.AT_FDCWD, file+".new", unix.AT_FDCWD, file, unix.RENAME_EXCHANGE))
		}, want: "it is no longer a file"},
		"gone": {change: os.Remove, want: "the file is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workbench(t, map[string]string{"comp": "#!/bin/sh\n"})
			id := build(t, tool.Options{Commands: []*exec.Command{resolve(t, true, "comp {in}")}})
			ticks, changes := make(chan time.Time), make(chan error, 2)
			w := id.Watch(ticks, func(err error) { changes <- err })
			look(ticks)
			if err := c.change(filepath.Join(dir, "comp")); err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				look(ticks)
			} else {
				if err := firstChange(ticks, changes); !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
			}
			touched, _, err := w.End()
			if c.want == "" && err != nil || c.want != "" && (regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), dir)) {
				t.Errorf("at the end: %v", err)
			}
			if (len(touched) == 1) != c.touched || len(changes) != 0 {
				t.Errorf("touched %q, %d more changes", touched, len(changes))
			}
		})
	}
}

// A change that no look has seen is found at the end.
func TestWatchLooksAtTheEnd(t *testing.T) {
	dir := workbench(t, map[string]string{"comp": "#!/bin/sh\n", "data": "1"})
	id := build(t, tool.Options{Commands: []*exec.Command{resolve(t, false, "comp", "data")}})
	w := id.Watch(nil, func(error) { t.Error("there was no tick") })
	put(t, filepath.Join(dir, "data"), "2")
	if _, _, err := w.End(); err == nil || !strings.HasPrefix(err.Error(), dir+"/data, a file of the tool, changed while cases ran ") {
		t.Error(err)
	}
}

// An executable that is gone could not run: its cases have failed, and no verdict comes of it.
func TestExecutableThatIsGone(t *testing.T) {
	workbench(t, map[string]string{"comp": "#!/bin/sh\n"})
	id := build(t, tool.Options{Commands: []*exec.Command{resolve(t, false, "./comp")}})
	if err := os.Remove("comp"); err != nil {
		t.Fatal(err)
	}
	if err := id.Changed(); err != nil {
		t.Error(err)
	}
	put(t, "comp", "another")
	if err := id.Changed(); err == nil {
		t.Error("another one in its place is no change")
	}
	if err := (*closure.Closure)(nil).Changed(); err != nil {
		t.Error(err)
	}
}
