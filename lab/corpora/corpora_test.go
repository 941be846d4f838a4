package corpora_test

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/lab/corpora"
)

// The archive and the folder have the same content, the total size is as requested, and the
// archive ends with headers.
func TestWrite(t *testing.T) {
	spec := corpora.Spec{Name: "test", Cases: 300, Bytes: 3 << 20, Sigma: 0.5, Seed: 9}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tar")
	if err := corpora.Write(path, spec); err != nil {
		t.Fatal(err)
	}
	if err := corpora.Unpack(dir, spec); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var last string
	var total, cases int
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		packed, _ := io.ReadAll(r)
		unpacked, err := os.ReadFile(filepath.Join(dir, h.Name))
		if err != nil || !bytes.Equal(packed, unpacked) {
			t.Fatalf("%s differs: %v", h.Name, err)
		}
		if last = h.Name; strings.HasSuffix(last, ".c") {
			cases++
			total += len(packed)
		}
	}
	if cases != spec.Cases || total < 2<<20 || total > 4<<20 || !strings.HasPrefix(last, "src/HDR_") {
		t.Errorf("%d cases, %d bytes, the last entry is %s", cases, total, last)
	}
}
