//go:build linux

package nowait_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"muster/internal/nowait"
)

func TestReadAndWrite(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	buffer := make([]byte, 100)
	if _, err := nowait.Read(ends[0], buffer); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("an empty pipe: %v", err)
	}
	if n, err := nowait.Write(ends[1], []byte("some")); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := nowait.Read(ends[0], buffer); string(buffer[:n]) != "some" || err != nil {
		t.Errorf("%q, %v", buffer[:n], err)
	}
	if n, err := nowait.Read(ends[0], nil); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v", n, err)
	}
	unix.Close(ends[1])
	if n, err := nowait.Read(ends[0], buffer); n != 0 || err != nil {
		t.Errorf("the end: %d, %v", n, err)
	}
	if _, err := nowait.Read(ends[1], buffer); !errors.Is(err, unix.EBADF) {
		t.Error(err)
	}
}

// On a file system that reports what it has in memory, a file that was just written is in
// memory.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	want := bytes.Repeat([]byte("0123456789"), 10_000)
	if err := os.WriteFile(filepath.Join(dir, "one"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	at := int(folder.Fd())
	if _, err := nowait.Open(at, "none"); !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.ENOSYS) {
		t.Error(err)
	}
	if _, err := nowait.Open(at, "a\x00b"); err == nil {
		t.Error("a name with a 0 in it was opened")
	}
	fd, err := nowait.Open(at, "one")
	if !nowait.Local(at) || errors.Is(err, unix.ENOSYS) {
		return // this system promises nothing
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, offset := range []int64{0, 3, 99_990, 100_000} {
		buffer := make([]byte, 100)
		n, err := nowait.ReadAt(fd, buffer, offset)
		if err != nil || !bytes.Equal(buffer[:n], want[offset:min(offset+100, 100_000)]) {
			t.Errorf("from %d on: %q, %v", offset, buffer[:n], err)
		}
	}
	if err := os.Symlink("one", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if fd, err := nowait.Open(at, "link"); err == nil {
		unix.Close(fd)
		t.Error("a link was followed")
	}
}
