package corpus_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/name"
)

// file is one member of an archive to be packed.
type file struct {
	name, body string
	link       string
	typ        byte // 0: regular, or a symlink when there is a link
	exec       bool
	format     tar.Format
	pax        map[string]string
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// pack makes a tar with archive/tar.
func pack(t fataler, files ...file) []byte {
	t.Helper()
	b, err := tryPack(files...)
	if err != nil {
		t.Fatalf("pack: %v", err)
	}
	return b
}

func tryPack(files ...file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Linkname: f.link, Typeflag: f.typ, Size: int64(len(f.body)), Mode: 0o644, Format: f.format, PAXRecords: f.pax}
		if f.typ == tar.TypeXGlobalHeader {
			h = &tar.Header{Name: f.name, Typeflag: f.typ, PAXRecords: f.pax}
		}
		if f.exec {
			h.Mode = 0o755
		}
		if f.typ == 0 {
			h.Typeflag = tar.TypeReg
			if f.link != "" {
				h.Typeflag = tar.TypeSymlink
			}
		}
		if h.Typeflag != tar.TypeReg {
			h.Size = 0
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("%q: %w", f.name, err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, f.body); err != nil {
				return nil, err
			}
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// header makes one header block by hand, for what archive/tar does not write.
func header(magic, fileName string, typ byte, size int64) []byte {
	b := make([]byte, 512)
	copy(b, fileName)
	copy(b[100:], "0000644\x00")
	copy(b[108:], "0000000\x00")
	copy(b[116:], "0000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "00000000000\x00")
	b[156] = typ
	copy(b[257:], magic)
	return sign(b)
}

// sign puts the right checksum into a header.
func sign(b []byte) []byte {
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

const ustar = "ustar\x0000"

func block(body string) []byte {
	return append([]byte(body), make([]byte, (512-len(body)%512)%512)...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

var endMarker = make([]byte, 1024)

func gz(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zst(b []byte) []byte {
	var out bytes.Buffer
	w, _ := zstd.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func xzd(b []byte) []byte {
	var out bytes.Buffer
	w, _ := xz.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// write puts content into a file of a new folder.
func write(t *testing.T, base string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), base)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a corpus with a spool of its own and closes it with the test.
func open(t *testing.T, o corpus.Options) *corpus.Corpus {
	t.Helper()
	if o.Spool == "" {
		o.Spool = filepath.Join(t.TempDir(), "spool")
	}
	c, err := corpus.Open(context.Background(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// refused opens a corpus that must be refused as input, and returns the error.
func refused(t *testing.T, o corpus.Options) string {
	t.Helper()
	if o.Spool == "" {
		o.Spool = filepath.Join(t.TempDir(), "spool")
	}
	c, err := corpus.Open(context.Background(), o)
	if err == nil {
		c.Close()
		t.Fatalf("Open took it: %s", describe(t, c))
	}
	if regress.ClassOf(err) != regress.Input {
		t.Fatalf("class %v, want Input: %v", regress.ClassOf(err), err)
	}
	return err.Error()
}

// describe prints all that a corpus gives, one entry a line.
func describe(t fataler, c *corpus.Corpus) string {
	t.Helper()
	var b strings.Builder
	for _, e := range c.Cases() {
		b.WriteString("case " + describeEntry(t, c, e) + "\n")
	}
	for _, e := range c.Given() {
		b.WriteString("given " + describeEntry(t, c, e) + "\n")
	}
	return b.String()
}

func describeEntry(t fataler, c *corpus.Corpus, e corpus.Entry) string {
	t.Helper()
	if e.IsLink {
		return name.Print(e.Name) + " -> " + name.Print(e.Path)
	}
	exec := ""
	if e.Exec {
		exec = " x"
	}
	return name.Print(e.Name) + exec + " = " + name.Print(content(t, c, e))
}

func content(t fataler, c *corpus.Corpus, e corpus.Entry) string {
	t.Helper()
	r, err := c.Open(e)
	if err != nil {
		t.Fatalf("open %q: %v", e.Name, err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %q: %v", e.Name, err)
	}
	if int64(len(got)) != e.Size {
		t.Fatalf("%q: %d bytes, Size %d", e.Name, len(got), e.Size)
	}
	if f := c.File(); f != nil && e.Size > 0 {
		direct := make([]byte, e.Size)
		if _, err := f.ReadAt(direct, e.Offset); err != nil || !bytes.Equal(direct, got) {
			t.Fatalf("%q: File() at %d has %.40q, %v; Open gives %.40q", e.Name, e.Offset, direct, err, got)
		}
	}
	return string(got)
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func digest(t *testing.T, c *corpus.Corpus) string {
	t.Helper()
	d, err := c.Digests(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d.Whole.String()
}

// program returns a program's path, or skips the test where none may be
// missing.
func program(t testing.TB, base string) string {
	t.Helper()
	path, err := exec.LookPath(base)
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatalf("%s is required: %v", base, err)
		}
		t.Skipf("no %s here", base)
	}
	return path
}

func run(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, args[0]), args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
