package lane

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEmpty removes everything except the names to keep, whatever its name and depth.
func TestEmpty(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		sub := filepath.Join(dir, fmt.Sprintf("d%d", i%7), "moved.1", fmt.Sprintf("moved.%d", i), "x")
		must(t, os.MkdirAll(sub, 0o755))
		must(t, os.WriteFile(filepath.Join(sub, "moved.2"), nil, 0))
	}
	for i := range 20 { // in the way of what is moved up
		must(t, os.MkdirAll(filepath.Join(dir, fmt.Sprintf("moved.%d", 2*i), "full"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("moved.%d", 2*i+1)), nil, 0o644))
	}
	must(t, os.MkdirAll(filepath.Join(dir, "keep", "this"), 0o755))
	must(t, os.Symlink("/", filepath.Join(dir, "link")))
	must(t, os.MkdirAll(filepath.Join(dir, "shut", "in"), 0o755))
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0))
	must(t, empty(dir, "keep"))
	if left := names(t, dir); !slices.Equal(left, []string{"keep"}) {
		t.Errorf("left: %q", left)
	}
	if left := names(t, filepath.Join(dir, "keep")); !slices.Equal(left, []string{"this"}) {
		t.Errorf("kept: %q", left)
	}
	must(t, empty(dir))
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(t.TempDir(), link))
	if err := empty(link); err == nil || !strings.Contains(err.Error(), link) {
		t.Errorf("a link gave %v", err)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	must(t, eachEntry(dir, func(e entry) error {
		list = append(list, e.name)
		return nil
	}))
	return list
}
