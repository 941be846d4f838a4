package corpus_test

import (
	"archive/tar"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/corpus"
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

// stride is the distance between the bytes that a test damages, one after the other. It
// divides a block of tar, so that each end of a block is among them.
func stride() int {
	if testing.Short() {
		return 8
	}
	return 1
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
	taken, warned := 0, 0
	for n := 0; n < len(whole); n += stride() {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := corpus.Open(context.Background(), corpus.Options{Path: path, Warn: func(string) { warned++ }})
		if err != nil {
			if regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), path+" is ") {
				t.Fatalf("cut at %d: class %v: %v", n, regress.ClassOf(err), err)
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
	if taken != 9 || warned != 8 {
		t.Errorf("taken %d times, want 9, warned %d times, want 8", taken, warned)
	}
}

// An archive that is cut where an entry ends looks like one of a program that
// writes no end marker: it is taken, and each run hears of it, once.
func TestMayBeCut(t *testing.T) {
	whole := pack(t, file{name: "a", body: "A"}, file{name: "b\n", body: "B"}, file{name: "c", body: "C"})
	cut := whole[:4*512]
	for base, content := range map[string][]byte{"c.tar": cut, "c.tar.gz": gz(cut), "c.tar.zst": zst(cut), "c.tar.xz": xzd(cut)} {
		path := write(t, base, content)
		o := corpus.Options{Path: path, Spool: t.TempDir()}
		for range 2 { // the second is from the spool
			warnedOnce(t, o, path+" has no end marker and may be cut: 2 entries, the last b%0A; copy or make it again if there should be more")
		}
		o = corpus.Options{Path: "-", Stdin: bytes.NewReader(content), Spool: t.TempDir()}
		warnedOnce(t, o, "standard input has no end marker and may be cut: 2 entries, …")
	}
	warnedOnce(t, corpus.Options{Path: write(t, "c.tar", whole[:2*512])}, "… may be cut: 1 entry, …")
	// Half an end marker is one.
	open(t, corpus.Options{Path: write(t, "c.tar", whole[:len(whole)-512]), Note: func(s string) { t.Error(s) }})
}

// What stands behind the end marker is read by nobody, and told: most often it
// is a second archive.
func TestGoesOn(t *testing.T) {
	a, b := pack(t, file{name: "a", body: "A"}), pack(t, file{name: "b", body: "B"})
	padded := join(a, make([]byte, 300_000))
	for title, c := range map[string]struct {
		tar  []byte
		want string
	}{
		"two archives":            {join(a, b), "by 2048 bytes"},
		"far behind":              {join(padded, b, make([]byte, 100)), "by 2148 bytes"},
		"entries without a start": {join(a, b[:1024]), "by 1024 bytes"},
		"one byte":                {join(a, []byte("\n")), "by 1 byte"},
		"in the last of a block":  {join(padded, []byte("\x00\x00garbage")), "by 7 bytes"},
		"zeros":                   {padded, ""},
		"half a block of zeros":   {join(a, make([]byte, 100)), ""},
	} {
		forms := map[string][]byte{"c.tar": c.tar, "c.tar.gz": gz(c.tar), "c.tar.zst": zst(c.tar), "c.tar.xz": xzd(c.tar)}
		if title == "two archives" {
			forms["members.tar.gz"], forms["members.tar.zst"], forms["members.tar.xz"] = join(gz(a), gz(b)), join(zst(a), zst(b)), join(xzd(a), xzd(b))
		}
		for base, content := range forms {
			t.Run(title+" "+base, func(t *testing.T) {
				checkGoesOn(t, corpus.Options{Path: write(t, base, content), Spool: t.TempDir()}, c.want)
				checkGoesOn(t, corpus.Options{Path: "-", Stdin: bytes.NewReader(content), Spool: t.TempDir()}, c.want)
			})
		}
	}
}

// checkGoesOn opens a file twice: the second time it may be from the spool.
func checkGoesOn(t *testing.T, o corpus.Options, want string) {
	t.Helper()
	label, times := o.Path, 2
	if o.Path == "-" {
		label, times = "standard input", 1
	}
	for range times {
		if want == "" {
			o.Warn = func(s string) { t.Error(s) }
			open(t, o)
			continue
		}
		warnedOnce(t, o, label+" goes on after its end marker, "+want+" beyond it; …--ignore-zeros …--concatenate…")
	}
}

// Zeros behind the end marker are not read for ever.
func TestZerosWithoutEnd(t *testing.T) {
	path := write(t, "c.tar", pack(t, file{name: "a", body: "A"}))
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	open(t, corpus.Options{Path: path, Note: func(s string) { t.Error(s) }})
}

func warnedOnce(t *testing.T, o corpus.Options, want string) {
	t.Helper()
	var said []string
	o.Warn = func(s string) { said = append(said, s) }
	open(t, o)
	if len(said) != 1 {
		t.Fatalf("%s: said %v", o.Path, said)
	}
	like(t, said[0], want)
}

// A flipped bit in a header is found by its checksum; what a plain tar cannot
// find is a flipped content. Nothing else may come of it.
func TestFlippedAnywhere(t *testing.T) {
	whole := everyDialect(t)
	all := entryLines(t, whole)
	path := filepath.Join(t.TempDir(), "c.tar")
	for i := 0; i < len(whole); i += stride() {
		mangled := bytes.Clone(whole)
		mangled[i] ^= 1 << (i / stride() % 8)
		if err := os.WriteFile(path, mangled, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := corpus.Open(context.Background(), corpus.Options{Path: path})
		if err != nil {
			if regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), path) {
				t.Fatalf("flipped at %d: class %v: %v", i, regress.ClassOf(err), err)
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
