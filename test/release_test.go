package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseScript: a release without a section in the changelog is refused, and a shallow clone
// is reported, because its version may differ. A program instead of go builds a muster that
// only has a version.
func TestReleaseScript(t *testing.T) {
	whole, shallow := filepath.Join(t.TempDir(), "a b"), filepath.Join(t.TempDir(), "shallow")
	script, err := os.ReadFile("scripts/release")
	if err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(t.TempDir(), "go")
	for name, text := range map[string]string{
		filepath.Join(whole, "scripts/release"): string(script),
		filepath.Join(whole, "CHANGELOG.md"):    "## 0.1.0 (2026-01-01)\n",
		fake: `#!/bin/sh
[ "$1" != env ] || { echo amd64; exit; }
while [ "$1" != -o ]; do shift; done
mkdir -p "$(dirname "$2")"
printf '#!/bin/sh\n[ "$1" = version ] && echo "muster %s" || exit 9' "$VERSION" >"$2"
chmod +x "$2"
`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(dir, version string, words ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), words[0], words[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GO="+fake, "VERSION="+version)
		out, _ := c.CombinedOutput()
		return string(out)
	}
	if out := run(whole, "", "scripts/release"); !strings.HasPrefix(out, "release: this folder is no git repository") {
		t.Errorf("without git:\n%s", out)
	}
	run(whole, "", "git", "init", "-q")
	run(whole, "", "git", "add", ".")
	for range 2 {
		run(whole, "", "git", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
	}
	run(".", "", "git", "clone", "-q", "--depth", "1", "file://"+whole, shallow)
	const made = "v0.0.0-20260101000000-0123456789ab"
	for _, c := range []struct{ dir, version, want string }{
		{whole, "(devel)", "release: the program has no version, but (devel)"},
		{whole, "v0.2.0", "release: CHANGELOG.md has no section 0.2.0"},
		{shallow, "v0.2.0", "release: CHANGELOG.md has no section 0.2.0"},
		{whole, "v0.1.0", ""},
		{whole, made, ""},
		{shallow, made, "release: this clone is shallow"},
	} {
		out := run(c.dir, c.version, "scripts/release", "out", "amd64")
		if _, got, _ := strings.Cut("\n"+out, "\nrelease: "); !strings.HasPrefix("release: "+got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s in %s printed\n%s\nwant %q", c.version, c.dir, out, c.want)
		}
	}
}
