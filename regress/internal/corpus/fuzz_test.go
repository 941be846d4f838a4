package corpus_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/name"
)

// FuzzArchive opens anything. Whatever it is: no panic, an error of class Input
// or a corpus within its limits, every name below the root, every content where
// it is said to be, and nothing written but in the spool.
func FuzzArchive(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Setenv("PATH", "") // a process for each would be slow, and is not ours to test
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		path, spool := filepath.Join(dir, "corpus"), filepath.Join(dir, "spool")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		limits := corpus.Limits{Entries: 500, EntryBytes: 1 << 20, TotalBytes: 2 << 20, NameBytes: 1 << 16, Reserve: 1}
		c, err := corpus.Open(context.Background(), corpus.Options{Path: path, Spool: spool, Limits: limits})
		if err == nil {
			checkCorpus(t, c, limits)
			c.Close()
		} else if regress.ClassOf(err) != regress.Input || strings.Count(err.Error(), path) != 1 || strings.ContainsAny(err.Error(), "\n\x00\x1b") {
			t.Errorf("class %v: %q", regress.ClassOf(err), err)
		}
		checkWritten(t, dir, len(content), limits)
	})
}

func checkCorpus(t *testing.T, c *corpus.Corpus, limits corpus.Limits) {
	t.Helper()
	info, err := c.File().Stat()
	if err != nil {
		t.Fatal(err)
	}
	all := append(c.Cases(), c.Given()...)
	if len(all) > 2*limits.Entries {
		t.Fatalf("%d entries", len(all))
	}
	seen := map[string]bool{}
	for _, e := range all {
		clean, err := name.Clean(e.Name)
		if err != nil || clean != e.Name || seen[e.Name] {
			t.Fatalf("name %q: %v, twice %v", e.Name, err, seen[e.Name])
		}
		seen[e.Name] = true
		if e.IsLink {
			if at := filepath.Join("/top", filepath.Dir(e.Name), e.Path); !strings.HasPrefix(at+"/", "/top/") {
				t.Fatalf("%q leads to %q", e.Name, e.Path)
			}
			continue
		}
		if e.Size < 0 || e.Offset < 512 || e.Offset+e.Size > info.Size() || e.Size > limits.EntryBytes {
			t.Fatalf("%q: %d bytes at %d of %d", e.Name, e.Size, e.Offset, info.Size())
		}
		content(t, c, e)
	}
	if _, err := c.Digests(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := c.Changed(); err != nil {
		t.Fatal(err)
	}
}

func checkWritten(t *testing.T, dir string, size int, limits corpus.Limits) {
	t.Helper()
	var written int64
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case rel == "." || rel == "spool" || rel == "corpus" && info.Size() == int64(size):
		case strings.HasPrefix(rel, "spool/corpus-") && strings.HasSuffix(rel, ".tar") && info.Mode().IsRegular():
			written += info.Size()
		case strings.HasPrefix(rel, "spool/corpus-") && strings.HasSuffix(rel, ".stamp") && info.Mode().IsRegular():
		case rel == "spool/archives.json" || strings.HasPrefix(rel, "spool/digest-"):
		default:
			t.Errorf("%s was written", rel)
		}
		return nil
	})
	if err != nil || written > limits.TotalBytes {
		t.Errorf("%d bytes written, %v", written, err)
	}
}

func seeds(t fataler) [][]byte {
	plain := [][]byte{
		pack(t, file{name: "a", body: "A", exec: true}, file{name: "HDR_h", body: strings.Repeat("h", 600)}, file{name: "d/l", link: "../a"}, file{name: "f", link: "d"}, file{name: "hard", link: "a", typ: '1'}),
		pack(t, file{name: strings.Repeat("long/", 40) + "x", body: "pax"}, file{name: "a", body: "1"}, file{name: "a", body: "2"}),
		pack(t, file{name: "../evil", body: "x"}),
		pack(t, file{name: "l", link: "l"}),
		join(header("", "v7", 0, 2), block("v7"), header("", "dir/", 0, 0), endMarker),
		join(huge("big", 1<<63-1), endMarker),
		join(header("ustar  \x00", "sparse", 'S', 512), block("x"), endMarker),
		join(header(ustar, "x", 'x', 79), block("22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n26 GNU.sparse.realsize=99\n9 path=s\n"), header(ustar, "s", '0', 1024), block("1\n0\n1\n"), block("x"), endMarker),
		endMarker,
	}
	all := append([][]byte{}, plain...)
	for _, p := range plain[:2] {
		all = append(all, gz(p), zst(p), xzd(p), join(gz(p[:700]), gz(p[700:])))
	}
	return all
}
