package main_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// zstd in C, as a module that Go's checksum database covers.
const realProject = "github.com/DataDog/zstd@v1.5.7"

// A compilerCache is a cache for a compiler, with no content of its own.
type compilerCache struct {
	program     string
	environment []string
	hits        func(t *testing.T, c compilerCache) int // that the server had
}

// TestCompilerCaches builds a real project in C through a server, by ccache over HTTP and by sccache over WebDAV, and
// again as on another machine. The second build gets everything from the server, and the same objects.
func TestCompilerCaches(t *testing.T) {
	if testing.Short() {
		t.Skip("two builds of 15 files by each")
	}
	for name, start := range map[string]func(t *testing.T, dir, host string) compilerCache{"ccache": startCcache, "sccache": startSccache} {
		t.Run(name, func(t *testing.T) {
			sources := moduleSources(t, realProject)[:15]
			token := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			url := startServer(t, build(t), "--data", filepath.Join(t.TempDir(), "kept"), "--sync", "none", "--token-file", token)
			var objects [2]map[string]string
			for i, want := range []int{0, len(sources)} {
				dir := t.TempDir()
				c := start(t, dir, strings.TrimPrefix(url, "http://"))
				objects[i] = c.compile(t, dir, sources)
				if hits := c.hits(t, c); hits != want {
					t.Errorf("build %d of %d files has %d hits", i+1, len(sources), hits)
				}
			}
			for source, object := range objects[0] {
				if objects[1][source] != object || object == "" {
					t.Errorf("%s is another one", source)
				}
			}
		})
	}
}

// startCcache gives the token as a password, as ccache before 4.10 cannot send it otherwise.
func startCcache(t *testing.T, dir, host string) compilerCache {
	return compilerCache{testTool(t, "ccache"), append(os.Environ(), "CCACHE_DIR="+filepath.Join(dir, "cache"),
		"CCACHE_REMOTE_STORAGE=http://anybody:secret@"+host+"/files/ccache", "CCACHE_CONFIGPATH=/dev/null"), ccacheHits}
}

func ccacheHits(t *testing.T, c compilerCache) int {
	t.Helper()
	stats := runIn(t.Context(), t, c.environment, c.program, "--print-stats")
	found := regexp.MustCompile(`(?m)^remote_storage_hit\s+(\d+)$`).FindStringSubmatch(stats)
	if found == nil {
		t.Fatalf("statistics of ccache: %s", stats)
	}
	hits, _ := strconv.Atoi(found[1]) // it has only digits
	return hits
}

// startSccache starts a server of sccache, which ends with the test.
func startSccache(t *testing.T, dir, host string) compilerCache {
	c := compilerCache{testTool(t, "sccache-0.16.0/sccache"), append(os.Environ(),
		"SCCACHE_WEBDAV_ENDPOINT=http://"+host+"/files", "SCCACHE_WEBDAV_KEY_PREFIX=sccache", "SCCACHE_WEBDAV_TOKEN=secret",
		"SCCACHE_CONF=/dev/null", "SCCACHE_SERVER_UDS="+filepath.Join(dir, "socket"), "SCCACHE_IDLE_TIMEOUT=60"), sccacheHits}
	runIn(t.Context(), t, c.environment, c.program, "--start-server")
	t.Cleanup(func() { runIn(context.Background(), t, c.environment, c.program, "--stop-server") })
	return c
}

func sccacheHits(t *testing.T, c compilerCache) (hits int) {
	t.Helper()
	var report struct {
		Stats struct {
			Hits struct {
				Counts map[string]int
			} `json:"cache_hits"`
			Failures int `json:"cache_write_errors"`
		}
	}
	text := runIn(t.Context(), t, c.environment, c.program, "--show-stats", "--stats-format", "json")
	if err := json.Unmarshal([]byte(text), &report); err != nil || report.Stats.Failures > 0 {
		t.Fatalf("statistics of sccache: %v: %s", err, text)
	}
	for _, n := range report.Stats.Hits.Counts {
		hits += n
	}
	return hits
}

// compile compiles everything, and returns the objects by name.
func (c compilerCache) compile(t *testing.T, dir string, sources []string) map[string]string {
	t.Helper()
	objects := map[string]string{}
	for _, source := range sources {
		object := filepath.Join(dir, filepath.Base(source)+".o")
		runIn(t.Context(), t, c.environment, c.program, "gcc", "-c", "-O0", "-o", object, source)
		text, err := os.ReadFile(object)
		if err != nil {
			t.Fatal(err)
		}
		objects[filepath.Base(source)] = string(text)
	}
	return objects
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

// testTool returns the path of a program of the system, or that scripts/install-test-tools has put into the cache.
// Without it the test is skipped.
func testTool(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("MUSTER_TEST_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "muster-test")
	}
	path, err := exec.LookPath(name)
	if strings.Contains(name, "/") {
		path, err = exec.LookPath(filepath.Join(cache, name))
	}
	if err != nil && os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("no %s: scripts/install-test-tools installs it", name)
	}
	if err != nil {
		t.Skipf("no %s", name)
	}
	return path
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
