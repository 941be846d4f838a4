package corpus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/regress/internal/outcome"
)

// An archive's digest is remembered for that file as it is: an edit that keeps
// size and time, other headers, or another file ask for a new one. One that was
// changed a moment ago is not trusted.
func TestDigestIsRemembered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tar")
	old := time.Now().Add(-time.Hour)
	write := func(body string) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Name: "a", Mode: 0o644, Size: int64(len(body)), ModTime: old}); err != nil {
			t.Fatal(err)
		}
		_, err := w.Write([]byte(body))
		if err == nil {
			err = w.Close()
		}
		if err == nil {
			err = os.WriteFile(path, b.Bytes(), 0o600)
		}
		if err == nil {
			err = os.Chtimes(path, old, old)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cache := func(headers ...string) digestCache {
		c, err := Open(context.Background(), Options{Path: path, Spool: filepath.Join(dir, "spool"), Headers: headers})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if recent := c.cacheFor(c.counted(), time.Minute); recent != (digestCache{}) {
			t.Error("an archive that was just written is trusted")
		}
		return c.cacheFor(c.counted(), 0)
	}
	write("one")
	first := cache()
	if _, ok := first.load(); ok {
		t.Fatal("it is known already")
	}
	want := outcome.Of([]byte("x"))
	first.store(want)
	if got, ok := cache().load(); !ok || got != want {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := cache("a").load(); ok {
		t.Error("with other headers it is the same")
	}
	write("two")
	if _, ok := cache().load(); ok {
		t.Error("another content of the same size and time is the same")
	}
	if err := os.WriteFile(first.path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := first.load(); ok {
		t.Error("what is damaged is taken")
	}
	for i := range 2 * digestsKept {
		digestCache{first.dir, first.path + string(rune('a'+i))}.store(want)
	}
	if kept, _ := filepath.Glob(filepath.Join(first.dir, digestPrefix+"*")); len(kept) != digestsKept {
		t.Errorf("%d are kept", len(kept))
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
		return c.cacheFor(c.counted(), 0)
	}
	if first, second := cache(), cache(); first.path == "" || first != second {
		t.Errorf("%q became %q", first.path, second.path)
	}
}
