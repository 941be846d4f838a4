//go:build linux

package nowait_test

import (
	"bytes"
	"errors"
	"io"
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
	if nowait.InMemory(fd, 0, 100_000) { // older systems do not tell
		testSection(t, fd, want)
	}
	if nowait.InMemory(fd, 99_000, 10_000) {
		t.Error("bytes beyond the end are in memory")
	}
	if err := os.Symlink("one", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if fd, err := nowait.Open(at, "link"); err == nil {
		unix.Close(fd)
		t.Error("a link was followed")
	}
}

// A section of a file in memory can be sent and read. What is not in memory is neither reported
// nor read.
func testSection(t *testing.T, fd int, want []byte) {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	s := &nowait.Section{File: fd, Offset: 99_000, Left: 5000}
	buffer := make([]byte, 5000)
	if n, err := s.SendTo(ends[0], 100); n != 100 || s.Offset != 99_100 || s.Left != 4900 || err != nil {
		t.Errorf("%d, %+v, %v", n, s, err)
	}
	if n, err := nowait.Read(ends[1], buffer); !bytes.Equal(buffer[:n], want[99_000:99_100]) || err != nil {
		t.Errorf("%q, %v", buffer[:n], err)
	}
	if rest, err := io.ReadAll(s); !bytes.Equal(rest, want[99_100:]) || err != nil {
		t.Errorf("%d bytes, %v", len(rest), err)
	}
	if n, err := s.SendTo(ends[0], 100); n != 0 || err != nil {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
	if err := errors.Join(unix.Fsync(fd), unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)); err != nil {
		t.Fatal(err)
	}
	reported := nowait.InMemory(fd, 0, 100_000) // the system may keep it
	if _, err := nowait.ReadAt(fd, buffer, 0); reported && err != nil {
		t.Errorf("reported to be in memory: %v", err)
	}
}
