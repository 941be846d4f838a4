package filedigest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/regress/internal/filestamp"
)

// A second run reads nothing that is as it was, and everything that is not.
func TestDigestsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	tool, cache := filepath.Join(dir, "tool"), filepath.Join(dir, "state", "digests.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(tool, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	first := Open(cache)
	was, err := first.Of(tool, 100)
	if err != nil || first.read != 1 {
		t.Fatal(was, err)
	}
	// It is too young to be remembered: a change at once would not show.
	first.Save()
	if again := Open(cache); len(again.old) != 0 {
		t.Errorf("%v", again.old)
	}
	info, err := os.Stat(tool)
	if err != nil {
		t.Fatal(err)
	}
	if filestamp.HasRested(info, restMin) || restMin < time.Second {
		t.Errorf("a file that was written just now has rested")
	}
	first.now[tool] = was
	first.Save()
	second := Open(cache)
	if now, err := second.Of(tool, 100); err != nil || now.Hash != was.Hash || second.read != 0 {
		t.Errorf("%v, %v, %d files read", now, err, second.read)
	}
	write("another")
	if now, err := second.Of(tool, 100); err != nil || now.Hash == was.Hash || second.read != 1 {
		t.Errorf("%v, %v, %d files read", now, err, second.read)
	}
	if err := os.WriteFile(cache, []byte(`{"version":1,"files":{}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if other := Open(cache); other.old != nil {
		t.Error("another version was read")
	}
}
