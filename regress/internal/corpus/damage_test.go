package corpus_test

import (
	"archive/tar"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
	"muster/regress/internal/fault"
)

// everyDialect is a small archive with each kind of header that carries
// something.
func everyDialect(t *testing.T) []byte {
	long := strings.Repeat("long/", 30)
	return pack(t,
		file{name: "a", body: "A"},
		file{name: long + "pax", body: strings.Repeat("p", 600), format: tar.FormatPAX},
		file{name: long + "gnu", body: "g", format: tar.FormatGNU},
		file{name: "dir/", typ: tar.TypeDir},
		file{name: "sym", link: "a"},
		file{name: "hard", link: "a", typ: tar.TypeLink},
		file{name: "empty"},
		file{name: "z", body: strings.Repeat("z", 512)})
}

// entryLines returns what the whole archive gives, as a set of lines.
func entryLines(t *testing.T, content []byte) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for line := range strings.Lines(describe(t, open(t, corpus.Options{Path: write(t, "c.tar", content)}))) {
		all[line] = true
	}
	return all
}

// An archive that is cut at any byte is refused, or gives nothing but entries
// of the whole one, and then only when it is cut where an entry ends.
func TestTruncatedAnywhere(t *testing.T) {
	whole := everyDialect(t)
	all := entryLines(t, whole)
	if len(all) != 7 {
		t.Fatalf("%d entries", len(all))
	}
	path := filepath.Join(t.TempDir(), "c.tar")
	taken := 0
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := corpus.Open(context.Background(), corpus.Options{Path: path})
		if err != nil {
			if fault.ClassOf(err) != fault.Input || !strings.HasPrefix(err.Error(), path+" is ") {
				t.Fatalf("cut at %d: class %v: %v", n, fault.ClassOf(err), err)
			}
			continue
		}
		taken++
		if n%512 != 0 {
			t.Errorf("cut at %d, inside a block, and taken", n)
		}
		for line := range strings.Lines(describe(t, c)) {
			if !all[line] {
				t.Errorf("cut at %d: gives %s", n, line)
			}
		}
		c.Close()
	}
	// The ends of the 8 entries, and one zero block after the last.
	if taken != 9 {
		t.Errorf("taken %d times, want 9", taken)
	}
}

// A flipped bit in a header is found by its checksum; what a plain tar cannot
// find is a flipped content. Nothing else may come of it.
func TestFlippedAnywhere(t *testing.T) {
	whole := everyDialect(t)
	all := entryLines(t, whole)
	path := filepath.Join(t.TempDir(), "c.tar")
	for i := range whole {
		mangled := bytes.Clone(whole)
		mangled[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, mangled, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := corpus.Open(context.Background(), corpus.Options{Path: path})
		if err != nil {
			if fault.ClassOf(err) != fault.Input || !strings.HasPrefix(err.Error(), path) {
				t.Fatalf("flipped at %d: class %v: %v", i, fault.ClassOf(err), err)
			}
			continue
		}
		strange := 0
		for line := range strings.Lines(describe(t, c)) {
			if !all[line] {
				strange++
			}
		}
		// The first content has three names; a bit in a long name's record changes
		// one name.
		if strange > 3 || len(c.Cases()) != len(all) {
			t.Errorf("flipped at %d: %d entries are not as they were, %d cases", i, strange, len(c.Cases()))
		}
		c.Close()
	}
}
