package main_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// zstd in C, as a module that Go's checksum database covers.
const realProject = "github.com/DataDog/zstd@v1.5.7"

// TestCcache builds a real project in C with ccache through a server, and again as on another
// machine. The second build gets everything from the server, and the same objects.
func TestCcache(t *testing.T) {
	if testing.Short() {
		t.Skip("two builds of 15 files")
	}
	if _, err := exec.LookPath("ccache"); err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal("no ccache: scripts/install-test-tools, run as root, installs what tests need")
		}
		t.Skip("no ccache")
	}
	sources := moduleSources(t, realProject)[:15]
	// with a token, which ccache before 4.10 can send only as a password
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startServer(t, build(t), "--data", filepath.Join(t.TempDir(), "kept"), "--sync", "none", "--token-file", token)
	url = strings.Replace(url, "://", "://anybody:secret@", 1)

	first, stats := ccacheBuild(t, sources, url)
	if hits := stats["remote_storage_read_hit"] + stats["remote_storage_hit"]; hits > 0 || stats["cache_miss"] != len(sources) {
		t.Errorf("the first build: %v", stats)
	}
	second, stats := ccacheBuild(t, sources, url)
	if stats["remote_storage_hit"] < len(sources) || stats["cache_miss"] != 0 {
		t.Errorf("the second build is not from the server: %v", stats)
	}
	for name, object := range first {
		if second[name] != object || object == "" {
			t.Errorf("%s is another one", name)
		}
	}
}

// moduleSources returns the C sources of a Go module.
func moduleSources(t *testing.T, module string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // not as a part of this module
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if e := json.Unmarshal(out, &found); err != nil || e != nil {
		t.Fatalf("%v: %v, %v, %s", cmd, err, e, found.Error)
	}
	sources, err := filepath.Glob(filepath.Join(found.Dir, "*.c"))
	if err != nil || len(sources) < 20 {
		t.Fatalf("%d sources in %s: %v", len(sources), found.Dir, err)
	}
	return sources
}

// ccacheBuild compiles everything with a new local cache. It returns the objects by name, and
// ccache's counts.
func ccacheBuild(t *testing.T, sources []string, url string) (objects map[string]string, stats map[string]int) {
	t.Helper()
	dir := t.TempDir()
	environment := append(os.Environ(),
		"CCACHE_DIR="+filepath.Join(dir, "cache"), "CCACHE_REMOTE_STORAGE="+url+"/files/ccache", "CCACHE_CONFIGPATH=/dev/null")
	objects = map[string]string{}
	for _, source := range sources {
		object := filepath.Join(dir, filepath.Base(source)+".o")
		runIn(t.Context(), t, environment, "ccache", "gcc", "-c", "-O0", "-o", object, source)
		text, err := os.ReadFile(object)
		if err != nil {
			t.Fatal(err)
		}
		objects[filepath.Base(source)] = string(text)
	}
	return objects, ccacheStats(runIn(t.Context(), t, environment, "ccache", "--print-stats"))
}

func ccacheStats(text string) map[string]int {
	stats := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)\s+(\d+)$`).FindAllStringSubmatch(text, -1) {
		n := 0
		for _, digit := range m[2] {
			n = 10*n + int(digit-'0')
		}
		stats[m[1]] = n
	}
	return stats
}

func runIn(ctx context.Context, t *testing.T, environment []string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = environment
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}
