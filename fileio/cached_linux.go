package fileio

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// resolveCached is RESOLVE_CACHED of openat2(2), Linux 5.12: it fails with EAGAIN where a
// disk would have to be asked for the name.
const resolveCached = 0x20

// cache reads what the system has in memory, without a job: nothing here waits for a disk.
// (The last close of a file that was replaced meanwhile may; that is rare and short.)
type cache struct {
	off atomic.Bool // the system cannot tell what it has in memory
}

// open opens a file whose name the system knows by heart. It is not known whether there is
// one, and err means nothing, unless known.
func (c *cache) open(folder int, name string) (file int, info Entry, known bool, err error) {
	if c.off.Load() {
		return -1, Entry{}, false, nil
	}
	how := unix.OpenHow{Flags: oldFile, Resolve: resolveCached}
	file, err = unix.Openat2(folder, name, &how)
	switch err {
	case nil:
	case unix.ENOSYS, unix.EINVAL, unix.E2BIG, unix.EPERM:
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
		more, err := unix.Preadv2(file, [][]byte{data[n:]}, int64(n), unix.RWF_NOWAIT)
		if err == unix.EINTR {
			continue
		}
		if err != nil || more <= 0 {
			return n
		}
		n += more
	}
	return n
}

func (c *cache) close(file int) { _ = unix.Close(file) }
