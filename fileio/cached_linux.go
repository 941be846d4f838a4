package fileio

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"muster/internal/nowait"
)

// cache reads files that the system has in memory, without a job. Its calls do not wait for a
// disk. (The last close of a file that was replaced meanwhile may wait, which is rare and
// short.)
type cache struct {
	off atomic.Bool // the system does not report what it has in memory
}

// probe checks whether the folder's file system supports the cache.
func (c *cache) probe(folder int) { c.off.Store(!nowait.Local(folder)) }

// open opens a file if the system has its name in memory. If known is false, nothing is known
// of the file, and err means nothing.
func (c *cache) open(folder int, name string) (file int, info Entry, known bool, err error) {
	if c.off.Load() {
		return -1, Entry{}, false, nil
	}
	file, err = nowait.Open(folder, name)
	switch err {
	case nil:
	case unix.ENOSYS, unix.EINVAL, unix.E2BIG:
		c.off.Store(true)
		return -1, Entry{}, false, nil
	case unix.ENOENT, unix.ELOOP:
		return -1, Entry{}, true, err
	default:
		return -1, Entry{}, false, nil
	}
	j := Job{File: file}
	if err := j.stat(System{}, file, ""); err != nil {
		_ = unix.Close(file)
		return -1, Entry{}, true, err
	}
	return file, j.Info, true, nil
}

// read reads the part of the file's beginning that is in memory.
func (c *cache) read(file int, data []byte) (n int) {
	for n < len(data) {
		more, err := nowait.ReadAt(file, data[n:], int64(n))
		if err != nil || more <= 0 {
			return n
		}
		n += more
	}
	return n
}

func (c *cache) close(file int) { _ = unix.Close(file) }
