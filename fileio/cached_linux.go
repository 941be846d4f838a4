package fileio

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"muster/internal/nowait"
)

// cache reads what the system has in memory, without a job: nothing here waits for a disk.
// (The last close of a file that was replaced meanwhile may; that is rare and short.)
type cache struct {
	off atomic.Bool // the system does not tell what it has in memory
}

// begin looks at the file system of the folder.
func (c *cache) begin(folder int) { c.off.Store(!nowait.Local(folder)) }

// open opens a file whose name the system knows by heart. It is not known whether there is
// one, and err means nothing, unless known.
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

// read reads what there is in memory from the file's beginning.
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
