package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestChangelogScript: fragments become entries of a version by kind. Later ones join them until
// the version has a tag. No fragment is lost.
func TestChangelogScript(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("scripts/changelog")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want string, words ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), words[0], words[1:]...)
		c.Dir = dir
		if out, _ := c.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Fatalf("%q printed %q, not %q", words, out, want)
		}
	}
	write("scripts/changelog", string(script))
	write("CHANGELOG.md", "# Changelog\n\nAn introduction.\n\n## 0.1.0 (2026-01-01)\n\n### Added\n\n* Old.\n")
	write("changelog/unreleased/README.md", "Added: not an entry.\n")
	write("changelog/unreleased/a.md", "Fixed: a fault.\n\nMore about it.\n")
	write("changelog/unreleased/b.md", "Added: `b` is new.\n")
	run("", "git", "init", "-q")
	run("give it a version", "scripts/changelog", "next")
	run("2 entries", "scripts/changelog", "0.2.0")
	write("changelog/unreleased/c.md", "Fixed: another.\n")
	write("changelog/unreleased/d.md", "Removed: d.\n")
	run("2 entries", "scripts/changelog", "0.2.0")
	write("changelog/unreleased/e.md", "Broken: e.\n")
	run("does not begin with one of", "scripts/changelog", "0.2.0")
	run("", "git", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
	run("", "git", "tag", "v0.2.0")
	run("v0.2.0 is a tag", "scripts/changelog", "0.2.0")

	page, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "### Added\n\n* `b` is new.\n\n### Fixed\n\n* Another.\n\n* A fault.\n\n  More about it.\n\n### Removed\n\n* D.\n\n## 0.1.0 (2026-01-01)\n\n### Added\n\n* Old.\n"
	if _, got, _ := strings.Cut(string(page), ")\n\n"); got != want {
		t.Errorf("CHANGELOG.md is\n%s\nnot\n%s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "changelog/unreleased/*")); len(left) != 2 {
		t.Errorf("%q stay in changelog/unreleased: README.md and the broken e.md were expected", left)
	}
}
