package test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// generated is a corpus of C sources that include each other's headers, made from a seed. Sizes
// are log-normal, 3 % of the sources raise a warning and 2 % do not compile.
type generated struct {
	names   []string // in archive order
	content map[string]string
	failing map[string]bool
	warning map[string]bool
}

const generatedHeaders = 40

// generate makes n sources. Headers are at random places of the archive, and one is the last
// entry.
func generate(seed uint64, n int) *generated {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &generated{content: map[string]string{}, failing: map[string]bool{}, warning: map[string]bool{}}
	for i := range n {
		name := fmt.Sprintf("src/%02d/case%04d.c", i%17, i)
		g.names = append(g.names, name)
		g.content[name] = g.source(r, name)
	}
	for i := range generatedHeaders {
		name := fmt.Sprintf("src/HDR_%02d.h", i)
		g.content[name] = fmt.Sprintf("#pragma once\n#define LIMIT_%d %d\nstatic inline int helper_%d(int x) { return x + %d; }\n", i, r.IntN(1000), i, i)
		at := r.IntN(len(g.names))
		if i == generatedHeaders-1 {
			at = len(g.names)
		}
		g.names = slices.Insert(g.names, at, name)
	}
	return g
}

func (g *generated) source(r *rand.Rand, name string) string {
	var b strings.Builder
	header := r.IntN(generatedHeaders)
	fmt.Fprintf(&b, "#include \"../HDR_%02d.h\"\n", header)
	size := int(2000 * math.Exp(r.NormFloat64()))
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "int f%d(int a, int b) { int s = LIMIT_%d; for (int i = 0; i < a; i++) s += helper_%d(b) * %d; return s; }\n", i, header, header, r.IntN(99))
	}
	switch p := r.IntN(100); {
	case p < 3:
		b.WriteString("char *w(void) { int x = 1; return x; }\n") // an integer becomes a pointer
		g.warning[name] = true
	case p < 5:
		b.WriteString("int broken(void) { return undeclared_name; }\n")
		g.failing[name] = true
	}
	return b.String()
}

func (g *generated) tar() []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range g.names {
		content := g.content[name]
		// writing to a buffer cannot fail, and Close detects a short entry
		_ = w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		_, _ = w.Write([]byte(content))
	}
	_ = w.Close()
	return b.Bytes()
}

func (g *generated) write(t *testing.T, dir string) {
	t.Helper()
	for name, content := range g.content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A real C compiler over a generated corpus: every case sees the headers, wherever they are in
// the archive. The endings are the planted ones, and the objects are those of a direct call of
// the compiler.
func TestTcc(t *testing.T) {
	long(t)
	tcc := require(t, "tcc")
	g := generate(7, 1000)
	f := newFolder(t)
	if err := os.WriteFile(filepath.Join(f.dir, "c.tar"), g.tar(), 0o644); err != nil {
		t.Fatal(err)
	}
	command := []string{"--", tcc, "-Wall", "-c", "{in}", "-o", "{stem}.o"}
	f.muster(0, append([]string{"record", "c.tar"}, command...)...)
	f.muster(0, "check")
	f.muster(0, "export", "plain")

	hand := t.TempDir()
	g.write(t, hand)
	for _, name := range slices.Sorted(maps.Keys(g.content)) {
		if strings.HasSuffix(name, ".c") {
			f.checkTcc(g, tcc, hand, name)
		}
	}
	// The same compiler with one more macro: exactly the sources that include the header which
	// uses it change, at least by a warning.
	got := f.verdicts(f.muster(1, "check", "--format", "json", "--verbose", "--", tcc, "-Wall", "-DLIMIT_7=1", "-c", "{in}", "-o", "{stem}.o"))
	for name, verdict := range got {
		uses := strings.Contains(g.content[name], "HDR_07.h")
		if uses == (verdict == "identical") {
			t.Errorf("%s, whose use of the header is %v, is %s", name, uses, verdict)
		}
	}
}

func (f folder) checkTcc(g *generated, tcc, hand, name string) {
	f.Helper()
	said, failed := by(f.Context(), hand, tcc, "-Wall", "-c", name, "-o", strings.TrimSuffix(name, ".c")+".o")
	if failed != g.failing[name] {
		f.Fatalf("by hand, %s fails: %v, planted: %v", name, failed, g.failing[name])
	}
	exported := filepath.Join(f.dir, "plain", name+".case")
	stdout, _ := os.ReadFile(filepath.Join(exported, "stdout"))
	stderr, _ := os.ReadFile(filepath.Join(exported, "stderr"))
	if got := string(stdout) + "\x00" + string(stderr); got != said {
		f.Errorf("%s said %q, by hand %q", name, got, said)
	}
	if g.warning[name] && len(stderr) == 0 {
		f.Errorf("%s has no warning", name)
	}
	object := strings.TrimSuffix(name, ".c") + ".o"
	want, _ := os.ReadFile(filepath.Join(hand, object))
	got, _ := os.ReadFile(filepath.Join(exported, "files", object))
	if !bytes.Equal(got, want) {
		f.Errorf("%s: the object has %d bytes, by hand %d", name, len(got), len(want))
	}
}
