package corpus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"muster/regress/internal/outcome"
)

// An archive's digests are remembered for that file as it is: an edit that keeps
// size and time, other headers, or another file ask for new ones. One that was
// changed a moment ago is not trusted.
func TestDigestsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tar")
	writeOldTar(t, path, "one")
	cache := func(headers ...string) (digestCache, []digestEntry) {
		c, err := Open(context.Background(), Options{Path: path, Spool: filepath.Join(dir, "spool"), Headers: headers})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if recent := c.cacheFor(c.digestEntries(), time.Minute); recent != (digestCache{}) {
			t.Error("an archive that was just written is trusted")
		}
		all := c.digestEntries()
		return c.cacheFor(all, 0), all
	}
	first, all := cache()
	if _, ok := first.load(all); ok {
		t.Fatal("it is known already")
	}
	all[0].sum = outcome.Of([]byte("one"))
	whole := digestOfAll(all)
	first.store(whole, all)
	again, loaded := cache()
	if got, ok := again.load(loaded); !ok || got != whole || loaded[0].sum != all[0].sum {
		t.Errorf("%v, %v, %v", got, ok, loaded)
	}
	if other, all := cache("a"); first.path == other.path || loads(other, all) {
		t.Error("with other headers it is the same")
	}
	writeOldTar(t, path, "two")
	if other, all := cache(); first.path == other.path || loads(other, all) {
		t.Error("another content of the same size and time is the same")
	}
}

func loads(d digestCache, all []digestEntry) bool {
	_, ok := d.load(all)
	return ok
}

// writeOldTar writes an archive with one file, a, that was last changed an hour ago.
func writeOldTar(t *testing.T, path, body string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "a", Mode: 0o644, Size: int64(len(body)), ModTime: old})
	if err == nil {
		_, err = w.Write([]byte(body))
	}
	if err = errors.Join(err, w.Close(), os.WriteFile(path, b.Bytes(), 0o600), os.Chtimes(path, old, old)); err != nil {
		t.Fatal(err)
	}
}

// A cache file that is damaged, cut, longer, or no file is ignored, and leaves no
// trace in what is then computed.
func TestDamagedDigestsAreIgnored(t *testing.T) {
	d := digestCache{t.TempDir(), ""}
	d.path = filepath.Join(d.dir, digestPrefix+"x")
	entries := func() []digestEntry {
		return []digestEntry{{Entry: &Entry{Name: "a", Size: 1, isCase: true}}, {Entry: &Entry{Name: "l", Path: "d", IsLink: true, isGiven: true}}}
	}
	all := entries()
	all[0].sum = outcome.Of([]byte("a"))
	d.store(digestOfAll(all), all)
	kept, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{"empty": nil, "cut": kept[:len(kept)-1], "longer": append(slices.Clone(kept), 0)}
	for at := range kept {
		b := slices.Clone(kept)
		b[at] ^= 1
		damaged[fmt.Sprintf("bit 0 of byte %d", at)] = b
	}
	for what, content := range damaged {
		if err := os.WriteFile(d.path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		into := entries()
		if _, ok := d.load(into); ok {
			t.Errorf("%s: taken", what)
		}
		if into[0].sum != (outcome.Digest{}) || into[1].sum != (outcome.Digest{}) {
			t.Errorf("%s: leaves sums behind", what)
		}
	}
	if err := errors.Join(os.Remove(d.path), os.Mkdir(d.path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.load(entries()); ok {
		t.Error("a folder is taken")
	}
}

// The cache is bounded by the number of its files and by their bytes.
func TestDigestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	all := []digestEntry{{Entry: &Entry{Name: "a"}}}
	for i := range 2 * digestsKept {
		digestCache{dir, filepath.Join(dir, digestPrefix+string(rune('a'+i)))}.store(outcome.Digest{}, all)
	}
	kept := func() int {
		files, _ := filepath.Glob(filepath.Join(dir, digestPrefix+"*"))
		return len(files)
	}
	if n := kept(); n != digestsKept {
		t.Errorf("%d are kept", n)
	}
	d := digestCache{dir, ""}
	if d.prune(3*64 + 63); kept() != 1+3 {
		t.Errorf("%d are kept in 3 times their bytes beside the newest", kept())
	}
	if d.prune(0); kept() != 1 {
		t.Errorf("%d are kept, not the newest alone", kept())
	}
}

// To use again what was unpacked leaves it as it is: else its digest would never be
// remembered.
func TestDigestOfUnpackedIsRemembered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tgz")
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if err := errors.Join(tar.NewWriter(zip).Close(), zip.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	cache := func() digestCache {
		c, err := Open(context.Background(), Options{Path: path, Spool: filepath.Join(dir, "spool")})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.cacheFor(c.digestEntries(), 0)
	}
	if first, second := cache(), cache(); first.path == "" || first != second {
		t.Errorf("%q became %q", first.path, second.path)
	}
}
