package realpath_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/realpath"
)

func TestOf(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"store/deep", "far/in"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("store/file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("store")
	if err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"present": "store/file", "missing": "store/new", "absolute": filepath.Join(abs, "new"),
		"second": "missing", "folder": "store/deep", "up": "folder/../new", "store/out": "../new",
		"lost": "gone/new", "lost-second": "lost", "loop": "loop", "one": "other", "other": "one", "under": "store/file/new",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"new": "new", "store/new": "store/new", "gone/new": "gone/new", "store/file": "store/file",
		"present": "store/file", "missing": "store/new", "second": "store/new", "absolute": filepath.Join(abs, "new"),
		"folder/new": "store/deep/new", "up": "store/new", "store/out": "new",
	} {
		if got, err := realpath.Of(path); err != nil || got != want {
			t.Errorf("%s leads to %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"lost":        "lost is a link to gone/new, whose folder",
		"lost-second": "lost-second is a link to gone/new, whose folder",
		"under":       "under is a link to store/file/new, whose folder",
		"loop":        "loop is a link that leads back to itself",
		"one":         "one is a link that leads back to itself",
	} {
		if got, err := realpath.Of(path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s leads to %q, %v", path, got, err)
		}
	}
}
