package fileio

import (
	"io"
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

// open opens a file, for one user, if the system has its name in memory. If known is false,
// nothing is known of the file, and err means nothing.
func (c *cache) open(folder int, at, name string) (f *openFile, known bool, err error) {
	if c.off.Load() {
		return nil, false, nil
	}
	file, err := nowait.Open(folder, at)
	switch err {
	case nil:
	case unix.ENOSYS, unix.EINVAL, unix.E2BIG:
		c.off.Store(true)
		return nil, false, nil
	case unix.ENOENT, unix.ELOOP:
		return nil, true, err
	default:
		return nil, false, nil
	}
	j := Job{File: file}
	if err := j.stat(System{}, file, ""); err != nil {
		_ = unix.Close(file)
		return nil, true, err
	}
	f = &openFile{Info: infoOf(name, j.Info), file: file}
	f.users.Store(1)
	return f, true, nil
}

// has reports whether a part of a file is in memory.
func (c *cache) has(file int, offset, n int64) bool { return nowait.InMemory(file, offset, n) }

// hasBeginning reports whether the first bytes of a file are in memory. After the first
// success it only counts them: within the second for which a file stays open, the system hardly
// drops them and reads them again.
func (c *cache) hasBeginning(f *openFile, n int64) bool {
	if f.cached.Load() {
		return nowait.Cached(f.file, 0, n)
	}
	has := nowait.InMemory(f.file, 0, n)
	f.cached.Store(has)
	return has
}

// send has a connection send a part of a file, which need not copy it. The part's first known
// bytes are in memory. If the rest is not, send ends early.
func (c *cache) send(to io.ReaderFrom, file int, offset, n, known int64) (sent int64, err error) {
	for sent < n {
		piece := min(n-sent, chunkSize)
		if sent+piece > known && !c.has(file, offset+sent, piece) {
			return sent, nil
		}
		section := nowait.Section{File: file, Offset: offset + sent, Left: piece}
		_, err := to.ReadFrom(&section)
		sent += piece - section.Left
		if err != nil || section.Left > 0 {
			return sent, err
		}
	}
	return sent, nil
}

// read reads the beginning of a part of a file, as far as it is in memory.
func (c *cache) read(file int, data []byte, offset int64) (n int) {
	for n < len(data) {
		more, err := nowait.ReadAt(file, data[n:], offset+int64(n))
		if err != nil || more <= 0 {
			return n
		}
		n += more
	}
	return n
}
