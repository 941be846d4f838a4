package test

import (
	"archive/tar"
	"bytes"
	"context"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// share selects a share of a real corpus: every n-th file. make long takes all of them.
var share = flag.Int("share", 4, "take every n-th file of the real corpora; 1 = all")

// every returns a condition that holds for the first of n files that keep accepts, and for each
// n-th after it.
func every(n int, keep func(string) bool) func(string) bool {
	seen := -1
	return func(path string) bool {
		if !keep(path) {
			return false
		}
		seen++
		return seen%n == 0
	}
}

// pack writes the files below root that keep accepts into a tar in f's folder. Names are
// relative to root's parent.
func (f folder) pack(name, root string, keep func(string) bool) {
	f.Helper()
	out, err := os.Create(filepath.Join(f.dir, name))
	if err != nil {
		f.Fatal(err)
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !keep(path) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(root), path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: rel, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	if err := out.Close(); err != nil {
		f.Fatal(err)
	}
}

// by runs a command directly, and returns its output and whether it failed.
func by(ctx context.Context, dir string, args ...string) (said string, failed bool) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC", "SOURCE_DATE_EPOCH=1577836800")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	return stdout.String() + "\x00" + stderr.String(), err != nil
}

// verdict returns the verdict that muster should give on two direct runs.
func verdict(old string, oldFailed bool, now string, nowFailed bool) string {
	switch {
	case !oldFailed && nowFailed:
		return "newly_failing"
	case oldFailed && !nowFailed:
		return "newly_passing"
	case old != now:
		return "changed"
	}
	return "identical"
}

// byHand runs both commands directly on every name, a few at a time, and returns the expected
// verdicts.
func byHand(ctx context.Context, dir string, names []string, old, now []string) map[string]string {
	type line struct{ name, verdict string }
	work, done := make(chan string), make(chan line)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for name := range work {
				a, aFailed := by(ctx, dir, append(slices.Clone(old), name)...)
				b, bFailed := by(ctx, dir, append(slices.Clone(now), name)...)
				done <- line{name, verdict(a, aFailed, b, bFailed)}
			}
		}()
	}
	go func() {
		defer close(work)
		for _, name := range names {
			work <- name
		}
	}()
	found := make(map[string]string, len(names))
	for range names {
		l := <-done
		found[l.name] = l.verdict
	}
	return found
}

func (f folder) equalVerdicts(got, want map[string]string) {
	f.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			f.Errorf("%s: %q, by hand %q", name, got[name], want[name])
		}
	}
}

// gofmt over Go's own tests, of which some must fail: muster's verdicts on gofmt -s equal those
// of a plain loop.
func TestGofmt(t *testing.T) {
	long(t)
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(goroot))
	gofmt := filepath.Join(root, "bin", "gofmt")
	f := newFolder(t)
	f.pack("test.tar", filepath.Join(root, "test"), every(*share, func(path string) bool { return strings.HasSuffix(path, ".go") }))
	f.muster(0, "record", "test.tar", "--", gofmt, "{in}")
	f.muster(0, "check")
	got := f.verdicts(f.muster(1, "check", "--format", "json", "--verbose", "--", gofmt, "-s", "{in}"))
	if len(got) < 3000 / *share {
		t.Fatalf("only %d cases", len(got))
	}
	f.equalVerdicts(got, byHand(t.Context(), root, slices.Collect(maps.Keys(got)), []string{gofmt}, []string{gofmt, "-s"}))
}
