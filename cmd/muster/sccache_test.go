package main_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSccache builds a real project in C with sccache through a server, by WebDAV, and again as
// on another machine. The second build gets everything from the server, and the same objects.
func TestSccache(t *testing.T) {
	if testing.Short() {
		t.Skip("two builds of 15 files")
	}
	program := testTool(t, "sccache-0.16.0/sccache")
	sources := moduleSources(t, realProject)[:15]
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startServer(t, build(t), "--data", filepath.Join(t.TempDir(), "kept"), "--sync", "none", "--token-file", token)

	first, hits := sccacheBuild(t, program, sources, url)
	if hits != 0 {
		t.Errorf("%d hits in the first build", hits)
	}
	second, hits := sccacheBuild(t, program, sources, url)
	if hits != len(sources) {
		t.Errorf("%d hits in the second build of %d files", hits, len(sources))
	}
	for name, object := range first {
		if second[name] != object || object == "" {
			t.Errorf("%s is another one", name)
		}
	}
}

// testTool returns the path of a program that scripts/install-test-tools has put into the cache.
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
	path := filepath.Join(cache, name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatalf("no %s: scripts/install-test-tools installs it", path)
		}
		t.Skipf("no %s", path)
	}
	return path
}

// sccacheBuild compiles everything with a new server of sccache, which has no local cache. It
// returns the objects by name, and how many came from the cache.
func sccacheBuild(t *testing.T, program string, sources []string, url string) (objects map[string]string, hits int) {
	t.Helper()
	dir := t.TempDir()
	environment := append(os.Environ(),
		"SCCACHE_WEBDAV_ENDPOINT="+url+"/files", "SCCACHE_WEBDAV_KEY_PREFIX=sccache", "SCCACHE_WEBDAV_TOKEN=secret",
		"SCCACHE_CONF=/dev/null", "SCCACHE_SERVER_UDS="+filepath.Join(dir, "socket"), "SCCACHE_IDLE_TIMEOUT=60")
	runIn(t.Context(), t, environment, program, "--start-server")
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			runIn(context.WithoutCancel(t.Context()), t, environment, program, "--stop-server")
		}
	}
	defer stop()
	objects = map[string]string{}
	for _, source := range sources {
		object := filepath.Join(dir, filepath.Base(source)+".o")
		runIn(t.Context(), t, environment, program, "gcc", "-c", "-O0", "-o", object, source)
		text, err := os.ReadFile(object)
		if err != nil {
			t.Fatal(err)
		}
		objects[filepath.Base(source)] = string(text)
	}
	var report struct {
		Stats struct {
			Hits struct {
				Counts map[string]int
			} `json:"cache_hits"`
			Misses struct {
				Counts map[string]int
			} `json:"cache_misses"`
			Writes   int `json:"cache_writes"`
			Failures int `json:"cache_write_errors"`
		}
	}
	text := runIn(t.Context(), t, environment, program, "--show-stats", "--stats-format", "json")
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, n := range report.Stats.Hits.Counts {
		hits += n
	}
	if s := report.Stats; s.Failures > 0 || hits+len(s.Misses.Counts) == 0 {
		t.Errorf("statistics of sccache: %s", strings.TrimSpace(text))
	}
	return objects, hits
}
