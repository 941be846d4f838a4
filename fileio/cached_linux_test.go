package fileio_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

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
