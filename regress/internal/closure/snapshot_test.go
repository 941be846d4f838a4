package closure

import (
	"os"
	"path/filepath"
	"testing"

	"muster/regress/internal/filedigest"
)

// A snapshot sees files, absent paths, folders and links, and no names in listed folders.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("tool"), []byte("first"), 0o755))
	must(os.Mkdir(at("listed"), 0o755))
	must(os.Mkdir(at("asked"), 0o755))
	must(os.Symlink("listed", at("link")))
	c := Restore(t.Context(), []File{{Path: at("tool"), Role: Executable}},
		[]Place{{Path: at("absent")}, {Path: at("asked")}, {Path: at("link"), IsListed: true}, {Path: at("listed"), IsListed: true}}, nil, filedigest.Open(""))
	for _, step := range []struct {
		name    string
		change  func() error
		differs string
		whole   bool
	}{
		{"nothing", func() error { return nil }, "", true},
		{"another name in a listed folder", func() error { return os.WriteFile(at("listed/x"), nil, 0o644) }, "", true},
		{"a content", func() error { return os.WriteFile(at("tool"), []byte("second"), 0o755) }, "tool", true},
		{"no executable", func() error { return os.Remove(at("tool")) }, "tool", false},
		{"another link", func() error { must(os.Remove(at("link"))); return os.Symlink("asked", at("link")) }, "link", false},
		{"no folder", func() error { return os.Remove(at("asked")) }, "asked", false},
		{"a file where none was", func() error { return os.WriteFile(at("absent"), nil, 0o644) }, "absent", false},
	} {
		must(step.change())
		want := step.differs
		if want != "" {
			want = at(want)
		}
		now := c.Snapshot().Look()
		if got := c.Snapshot().Differs(now); got != want || c.lacksExecutable(now) == step.whole {
			t.Errorf("%s: %q differs, not %q; lacks executables: %t", step.name, got, want, c.lacksExecutable(now))
		}
	}
}
