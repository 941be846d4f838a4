package test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program builds muster once for all tests of this package and returns its path.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "muster-program-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "muster")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "./cmd/muster").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// TestMain runs the tests in the root of the tree, which most of them read.
func TestMain(m *testing.M) {
	if err := errors.Join(os.Chdir(".."), os.Unsetenv("GITHUB_ACTIONS")); err != nil {
		panic(err)
	}
	m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
}

// seed makes the random choices of a test repeat those of an earlier run, which logged it.
var seed = flag.Uint64("seed", 0, "of random choices; 0 = by the clock")

func chosenSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano())
}

// folder is a folder in which a test runs muster.
type folder struct {
	*testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

// muster runs the program and returns its standard output. The test ends if the exit status is
// not want.
func (f folder) muster(want int, args ...string) []byte {
	f.Helper()
	got := f.try(args...)
	if got.status != want {
		f.Fatalf("muster %q ended with %d, not %d\n%s%s", args, got.status, want, tail(got.stdout), tail(got.stderr))
	}
	return got.stdout
}

// ended is a finished run of the program.
type ended struct {
	status         int
	stdout, stderr []byte
	usage          *syscall.Rusage
}

// try runs the program and accepts any end.
func (f folder) try(args ...string) ended {
	f.Helper()
	path, err := program()
	if err != nil {
		f.Fatal(err)
	}
	c := exec.CommandContext(f.Context(), path, args...)
	c.Dir = f.dir
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		f.Fatal(err)
	}
	return ended{c.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes(), c.ProcessState.SysUsage().(*syscall.Rusage)}
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// caseLine holds the parts of a JSON line that tests read.
type caseLine struct {
	Type, Name, Verdict string
	Exit                *int
	Identical, Cases    int
}

// verdicts reads the output of check --format json --verbose.
func (f folder) verdicts(out []byte) map[string]string {
	f.Helper()
	found := map[string]string{}
	for line := range bytes.Lines(out) {
		var c caseLine
		if err := json.Unmarshal(line, &c); err != nil {
			f.Fatalf("%v in %s", err, line)
		}
		if c.Type == "case" {
			found[c.Name] = c.Verdict
		}
	}
	return found
}

// require skips a test whose tool is missing, or fails it if MUSTER_REQUIRE=all requires
// everything.
func require(t *testing.T, path string) string {
	t.Helper()
	found, err := exec.LookPath(path)
	if err == nil {
		return found
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("%v: scripts/install-test-tools installs it", err)
	}
	t.Skipf("%v: scripts/install-test-tools installs it", err)
	return ""
}

// long skips a test of more than a few seconds if -short is given.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
}
