package main_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// bombBytes is the size that the bombs unpack to: one entry, more than a corpus may hold in
// one.
const bombBytes = 65 << 30

// muster refuses a bomb by its claimed size: nothing of that size is ever written or held in
// memory.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("a child counts the memory of the process that it was forked from, which is too much under the race detector")
	}
	bin := build(t)
	for name, pack := range map[string]func(io.Writer) (io.WriteCloser, error){
		"bomb.tar.gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestCompression) },
		"bomb.tar.zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"bomb.tar.xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			writeBomb(t, path, pack)
			refusesBomb(t, bin, dir, name, name)
			refusesBomb(t, bin, dir, "-", "standard input")
		})
	}
}

// refusesBomb records from the bomb, which is a file in dir or on standard input. No file may
// become larger than 64 MiB.
func refusesBomb(t *testing.T, bin, dir, corpus, label string) {
	t.Helper()
	const capped = `ulimit -f 65536 && exec "$@"`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", capped, "sh", bin+"/muster", "record", corpus, "--", "cat", "{in}")
	cmd.Dir = dir
	if corpus == "-" {
		found, err := filepath.Glob(dir + "/bomb.*")
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		f, err := os.Open(found[0])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("%v, want exit status 2", err)
	}
	if want := "muster: " + label + ": entry zeros claims 65 GiB, more than the limit of 64 GiB; leave it out\n"; string(out) != want {
		t.Errorf("got  %.500s\nwant %s", out, want)
	}
	const memoryMax = 512 << 10 // KiB
	if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > memoryMax {
		t.Errorf("took %d KiB of memory", used)
	}
	if spooled, err := filepath.Glob(dir + "/.muster/cache/*"); err != nil || len(spooled) > 0 {
		t.Errorf("left %v, %v", spooled, err)
	}
	if found, err := filepath.Glob(dir + "/muster.golden*"); err != nil || len(found) > 0 {
		t.Errorf("made %v, %v", found, err)
	}
}

// writeBomb writes a compressed tar with one entry of zeros. All three formats allow several
// streams one after another, so one piece of zeros is compressed once and written many times.
func writeBomb(t *testing.T, path string, pack func(io.Writer) (io.WriteCloser, error)) {
	t.Helper()
	var header bytes.Buffer
	if err := tar.NewWriter(&header).WriteHeader(&tar.Header{Name: "zeros", Mode: 0o644, Size: bombBytes}); err != nil {
		t.Fatal(err)
	}
	const piece = 16 << 20
	packed := func(b []byte) []byte {
		var to bytes.Buffer
		w, err := pack(&to)
		if err == nil {
			_, err = w.Write(b)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return to.Bytes()
	}
	zeros := packed(make([]byte, piece))
	whole := bytes.Join([][]byte{packed(header.Bytes()), bytes.Repeat(zeros, bombBytes/piece), packed(make([]byte, 1024))}, nil)
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if ratio := bombBytes / len(whole); ratio < 500 {
		t.Fatalf("%s: %d to 1 is no bomb", filepath.Base(path), ratio)
	}
}
