package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGoCache builds and tests a module with Go's own cache replaced by a server, and again in
// another folder as on another machine: nothing is compiled there.
func TestGoCache(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a part of the standard library")
	}
	bin := build(t)
	url := startServer(t, bin, "--data", filepath.Join(t.TempDir(), "kept"), "--sync", "none")
	first := newGoMachine(t, bin, url, smallModule)
	first.run("build", "-trimpath", "-x", "./...")
	if first.compiled == 0 || first.sent < first.compiled {
		t.Fatalf("the first build: %+v", first)
	}
	first.run("test", "-trimpath", "-vet=off", "./words")
	second := newGoMachine(t, bin, url, smallModule)
	second.run("build", "-trimpath", "-x", "./...")
	if second.compiled > 0 || second.hits < first.compiled {
		t.Errorf("the second build is not from the server: %+v", second)
	}
	if out := second.run("test", "-trimpath", "-vet=off", "./words"); !strings.Contains(out, "(cached)") {
		t.Errorf("the test ran again:\n%s", out)
	}

	// Without the server a build works, with one warning.
	dead := newGoMachine(t, bin, "http://127.0.0.1:1", smallModule)
	if out := dead.run("build", "-trimpath", "./number"); strings.Count(out, "goes on without the server") != 1 {
		t.Errorf("not one warning:\n%s", out)
	}
}

// smallModule writes a module with three packages.
func smallModule(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"go.mod":           "module example.org/small\n\ngo 1.26\n",
		"main.go":          "package main\n\nimport \"example.org/small/words\"\n\nfunc main() { println(words.Upper(\"done\")) }\n",
		"words/words.go":   "package words\n\nimport \"strings\"\n\nfunc Upper(s string) string { return strings.ToUpper(s) }\n",
		"words/w_test.go":  "package words\n\nimport \"testing\"\n\nfunc TestUpper(t *testing.T) {\n\tif Upper(\"a\") != \"A\" {\n\t\tt.Fail()\n\t}\n}\n",
		"number/number.go": "package number\n\nfunc Next(n int) int { return n + 1 }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A goMachine is a module in a folder of its own, with an empty local cache.
type goMachine struct {
	t               *testing.T
	bin, url        string
	dir, local      string
	compiled        int // by the last command with -x
	hits, sent      int // by the last command
	misses, hitHere int
}

func newGoMachine(t *testing.T, bin, url string, sources func(*testing.T, string)) *goMachine {
	t.Helper()
	m := &goMachine{t: t, bin: bin, url: url, dir: t.TempDir(), local: t.TempDir()}
	sources(t, m.dir)
	return m
}

var (
	goCompiles  = regexp.MustCompile(`(?m)^\S*/compile .*-pack`)
	cacheCounts = regexp.MustCompile(`muster gocache: (\d+) hits here, (\d+) at the server, (\d+) misses; (\d+) files sent, 0 not sent`)
)

// run runs a go command, and returns its output.
func (m *goMachine) run(words ...string) string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), "go", words...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off",
		"GOCACHEPROG="+filepath.Join(m.bin, "muster")+" gocache -v --url "+m.url+" --dir "+m.local)
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("go %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	m.compiled = len(goCompiles.FindAll(out, -1))
	if counts := cacheCounts.FindSubmatch(out); counts != nil {
		for i, n := range []*int{&m.hitHere, &m.hits, &m.misses, &m.sent} {
			if *n, err = strconv.Atoi(string(counts[i+1])); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	return string(out)
}
