package filestamp_test

import (
	"os"
	"path/filepath"
	"testing"

	"muster/regress/internal/filestamp"
)

// TestOf: a file that is replaced and put back is another, and so is one that was
// written to with its old content and time.
func TestOf(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "tool"), filepath.Join(dir, "other")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stamp := func() string {
		t.Helper()
		info, err := os.Stat(path)
		must(err)
		return filestamp.Of(info)
	}
	must(os.WriteFile(path, []byte("text"), 0o644))
	info, err := os.Stat(path)
	must(err)
	was := stamp()
	if again := stamp(); again != was {
		t.Errorf("%s became %s", was, again)
	}
	for name, change := range map[string]func(){
		"replaced and put back": func() { must(os.Rename(path, other)); must(os.Rename(other, path)) },
		"written again": func() {
			must(os.WriteFile(path, []byte("text"), 0o644))
			must(os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"another": func() { must(os.WriteFile(other, []byte("text"), 0o644)); must(os.Rename(other, path)) },
	} {
		was := stamp()
		// The clock of a file system ticks every few milliseconds.
		for stampsAlike := 0; stamp() == was; stampsAlike++ {
			if stampsAlike > 10_000 {
				t.Fatalf("%s: still %s", name, was)
			}
			change()
		}
	}
}
