package corpus_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/corpus"
)

// sparseTree makes a folder with a file full of holes between others.
func sparseTree(t *testing.T) (dir string, content []byte) {
	t.Helper()
	dir = t.TempDir()
	content = make([]byte, 1<<20)
	copy(content[200<<10:], "middle")
	copy(content[len(content)-3:], "end")
	f, err := os.Create(filepath.Join(dir, "m-sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(len(content))); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{200 << 10, 1<<20 - 4096} {
		if _, err := f.WriteAt(content[at:at+4096], at); err != nil {
			t.Fatal(err)
		}
	}
	for base, body := range map[string]string{"a": "A", "z": "Z", "HDR_h": "H"} {
		if err := os.WriteFile(filepath.Join(dir, base), []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("m-sparse", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "z"), filepath.Join(dir, "zz")); err != nil {
		t.Fatal(err)
	}
	return dir, content
}

// A lane addresses a content by its place alone, so an archive with holes is
// expanded once, whatever way they are written in.
func TestSparse(t *testing.T) {
	dir, sparse := sparseTree(t)
	want := digest(t, open(t, corpus.Options{Path: dir}))
	for _, format := range [][]string{
		{"--format=gnu"}, {"--format=oldgnu"}, {"--format=pax"},
		{"--format=pax", "--sparse-version=0.0"}, {"--format=pax", "--sparse-version=0.1"}, {"--format=pax", "--sparse-version=1.0"},
	} {
		t.Run(strings.Join(format, " "), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.tar")
			run(t, dir, append([]string{"tar", "-S", "--hole-detection=raw", "-cf", path, "a", "HDR_h", "link", "m-sparse", "z", "zz"}, format...)...)
			packed, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(packed) >= len(sparse) {
				t.Fatalf("%d bytes: not sparse", len(packed))
			}
			gzPath := write(t, "c.tar.gz", gz(packed))
			for _, o := range []corpus.Options{{Path: path}, {Path: gzPath}, {Path: "-", Stdin: bytes.NewReader(packed)}} {
				checkExpanded(t, o, want, string(sparse))
			}
			for n := 0; n < len(packed); n += 256 * stride() {
				c, err := corpus.Open(context.Background(), corpus.Options{Path: write(t, "cut.tar", packed[:n]), Spool: t.TempDir()})
				if err == nil {
					checkCut(t, c, string(sparse))
					c.Close()
				} else if regress.ClassOf(err) != regress.Input {
					t.Errorf("cut to %d: class %v: %v", n, regress.ClassOf(err), err)
				}
			}
		})
	}
}

func checkExpanded(t *testing.T, o corpus.Options, want, sparse string) {
	t.Helper()
	said := 0
	o.Spool, o.Note = t.TempDir(), func(string) { said++ }
	c := open(t, o)
	if got := digest(t, c); got != want {
		t.Errorf("%s: digest differs from the folder's", o.Path)
	}
	for _, e := range c.Cases() {
		if e.Name == "m-sparse" && content(t, c, e) != sparse {
			t.Errorf("%s: content differs", o.Path)
		}
	}
	if o.Path == "-" {
		return
	}
	digest(t, open(t, o))
	if kept := whole(t, o.Spool); len(kept) != 1 || said != 1 {
		t.Errorf("%s: spool has %v, said %d times", o.Path, kept, said)
	}
}

func checkCut(t *testing.T, c *corpus.Corpus, sparse string) {
	t.Helper()
	want := map[string]string{"a": "A", "z": "Z", "zz": "Z", "HDR_h": "H", "link": sparse, "m-sparse": sparse}
	for _, e := range append(c.Cases(), c.Given()...) {
		if content(t, c, e) != want[e.Name] {
			t.Errorf("%s has another content", e.Name)
		}
	}
}

// A hole costs nothing in the archive; the limit is on what it becomes.
func TestSparseBomb(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "bomb"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.tar")
	run(t, dir, "tar", "-S", "-cf", path, "bomb")
	spool := t.TempDir()
	like(t, refused(t, corpus.Options{Path: path, Spool: spool}), path+": entry bomb claims 1 TiB, more than the limit of 64 GiB; leave it out")
	like(t, refused(t, corpus.Options{Path: path, Spool: spool, Limits: corpus.Limits{EntryBytes: 1 << 41, TotalBytes: 1 << 20}}),
		path+" unpacks to more than 1 MiB, the limit; split it")
	if left := names(t, spool); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
