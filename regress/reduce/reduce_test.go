package reduce

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/run"
)

// An attempt may take 20 times as long as the whole source, 5 s at least, and no longer
// than the run's own limit.
func TestPatience(t *testing.T) {
	for _, c := range []struct{ limit, slowest, want time.Duration }{
		{time.Minute, time.Millisecond, 5 * time.Second},
		{time.Minute, time.Second, 20 * time.Second},
		{time.Minute, 10 * time.Second, time.Minute},
		{3 * time.Second, time.Millisecond, 3 * time.Second},
	} {
		if got := patience(c.limit, c.slowest); got != c.want {
			t.Errorf("limit %v, the source took %v: %v, want %v", c.limit, c.slowest, got, c.want)
		}
	}
}

// What all cases are given is copied beside a reduced source, if it is not too much.
func TestGivenIsCopiedWithinItsBound(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"HDR_a": "abc", "x.c": "main"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := corpus.Open(t.Context(), corpus.Options{Path: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for most, want := range map[int64]struct {
		tooMuch int64
		copied  string
	}{
		2: {tooMuch: 3},
		3: {copied: "abc"},
	} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		into := resultFolder{folder, run.NewInputs(c, folder), most}
		tooMuch, err := into.writeGiven(root, "x.c")
		if err != nil {
			t.Fatal(err)
		}
		copied, _ := root.ReadFile("HDR_a")
		if tooMuch != want.tooMuch || string(copied) != want.copied {
			t.Errorf("of at most %d bytes: %q is copied, and %d bytes are said to be too much", most, copied, tooMuch)
		}
	}
}
