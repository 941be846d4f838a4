package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/closure"
	"muster/regress/internal/filedigest"
)

// watchedTool returns a watcher whose tool is one executable, and its path.
func watchedTool(t *testing.T) (*watcher, string) {
	path := filepath.Join(t.TempDir(), "tool")
	write(t, path, "first")
	files := []closure.File{{Path: path, Role: closure.Executable}}
	w := &watcher{pollEvery: pollEvery, quietFor: quietFor, tool: closure.Restore(t.Context(), files, nil, nil, filedigest.Open(""))}
	w.state = w.tool.Snapshot()
	return w, path
}

func write(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Error(err)
	}
}

// The next check waits until a compiler has written its last piece, however it does that.
func TestNextWaitsForQuiet(t *testing.T) {
	const pieces = 5
	for name, step := range map[string]func(t *testing.T, path string, i int){
		"pieces": func(t *testing.T, path string, i int) { write(t, path, "another"[:i]) },
		"absent": func(t *testing.T, path string, i int) {
			if i < pieces {
				_ = os.Remove(path)
				return
			}
			write(t, path, "another")
		},
		"renames": func(t *testing.T, path string, i int) {
			write(t, path+".new", "another"[:i])
			if err := os.Rename(path+".new", path); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, path := watchedTool(t)
				var last time.Time
				go func() {
					<-time.After(time.Hour)
					for i := range pieces {
						step(t, path, i+1)
						last = time.Now()
						<-time.After(quietFor - pollEvery - time.Millisecond)
					}
				}()
				idle := 0
				changed, err := w.next(t.Context(), func() { idle++ })
				if err != nil || changed != path || idle != 1 {
					t.Errorf("%q changed, idle %d times, %v", changed, idle, err)
				}
				if passed := time.Since(last); passed < quietFor {
					t.Errorf("the check begins %s after the last write", passed)
				}
				if now := w.state.Look(); w.state.Differs(now) != "" {
					t.Errorf("the state is %v, not %v", w.state, now)
				}
			})
		})
	}
}

// A tool that stays away makes no check, and an interrupt ends the waiting.
func TestNextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, path := watchedTool(t)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := w.next(ctx, func() { t.Error("the change is not seen at once") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestWatchRefuses(t *testing.T) {
	for name, o := range map[string]regress.Options{
		"resume":         {Store: regress.Store{Resume: true}},
		"standard input": {Corpus: regress.Corpus{Path: "-"}},
		"no golden":      {Store: regress.Store{Golden: filepath.Join(t.TempDir(), "none"), State: t.TempDir()}},
	} {
		if err := Watch(t.Context(), o, host.Host{}, nil); regress.ClassOf(err) != regress.Input {
			t.Errorf("%s: %v", name, err)
		}
	}
}
