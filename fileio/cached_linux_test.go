package fileio_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// GetCached does not wait for the disk if the system has dropped a file from memory.
func TestGetCachedHasNoJob(t *testing.T) {
	folder, e := t.TempDir(), &direct.Engine{}
	s := enginetest.Open(t, e, folder, fileio.Options{})
	for _, size := range []int{5_000, 50_000, 1_000_000} {
		enginetest.Put(t, s, "x", enginetest.Content(1, size))
		paths, err := filepath.Glob(filepath.Join(folder, "??", "x"))
		if err != nil || len(paths) != 1 {
			t.Fatal(paths, err)
		}
		file, err := os.Open(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED) // some file systems keep it
		_ = file.Close()
		before := e.Stats().Done
		f, err := s.GetCached(t.Context(), "x")
		if f != nil {
			_ = f.Close()
		}
		if held := s.Stats().Memory; err != nil || e.Stats().Done != before || held != 0 {
			t.Errorf("%d bytes: %v, %d jobs, %d bytes are held", size, err, e.Stats().Done-before, held)
		}
	}
}

// reportsCached reports whether the system and this file system report what is in memory.
func reportsCached(t *testing.T, folder string) bool {
	t.Helper()
	dir, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	fd, err := unix.Openat2(int(dir.Fd()), "format", &unix.OpenHow{Flags: unix.O_RDONLY, Resolve: 0x20})
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	n, err := unix.Preadv2(fd, [][]byte{make([]byte, 1)}, 0, unix.RWF_NOWAIT)
	return n == 1 && err == nil
}
