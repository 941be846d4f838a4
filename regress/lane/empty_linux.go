package lane

import (
	"errors"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"muster/regress/lane/scan"
)

// empty removes everything below dir except the names in keep.
func empty(dir string, keep ...string) error {
	fd, err := openDir(atCwd, dir, 0o700)
	if err != nil {
		return fail("open", dir, err)
	}
	defer syscall.Close(fd)
	e := emptier{top: fd, keep: keep}
	return fail("empty", dir, e.removeAll(fd))
}

// emptier removes everything below one folder. It does not descend: it first moves a folder in
// a folder to the top. So it needs two descriptors and short names however deep the tree is. A
// case may build one that no path reaches.
type emptier struct {
	top   int      // descriptor of the folder
	keep  []string // names at the top
	moved int      // number of folders moved so far, for their names
}

// removeAll removes everything in a folder. It reads the folder again until it is empty: a
// folder that is moved to the top during a read may be missed.
func (e *emptier) removeAll(fd int) error {
	for {
		found := false
		err := eachEntryAt(fd, func(in entry) error {
			if fd == e.top && slices.Contains(e.keep, in.name) {
				return nil
			}
			found = true
			return e.remove(fd, in)
		})
		if err != nil || !found {
			return err
		}
	}
}

// remove removes one entry.
func (e *emptier) remove(fd int, in entry) error {
	if !in.dir {
		return syscall.Unlinkat(fd, in.name)
	}
	err := rmdirAt(fd, in.name)
	if err != syscall.ENOTEMPTY && err != syscall.EEXIST {
		return err
	}
	if fd != e.top {
		return e.moveUp(fd, in.name)
	}
	sub, err := openDir(fd, in.name, 0o700)
	if err != nil {
		return err
	}
	err = e.removeAll(sub)
	syscall.Close(sub)
	if err != nil {
		return err
	}
	return rmdirAt(fd, in.name)
}

// moveUp moves a folder to the top, under a free name.
func (e *emptier) moveUp(fd int, name string) error {
	opened := false
	for {
		e.moved++
		err := syscall.Renameat(fd, name, e.top, "moved."+strconv.Itoa(e.moved))
		switch err {
		case syscall.EEXIST, syscall.ENOTEMPTY, syscall.ENOTDIR:
			continue
		case syscall.EACCES: // moving a folder changes the ".." in it
			if opened {
				return err
			}
			opened = true
			if err := syscall.Fchmodat(fd, name, 0o700, 0); err != nil {
				return err
			}
			continue
		}
		return err
	}
}

// entry is a name in a folder.
type entry struct {
	name string
	dir  bool
}

// eachEntry calls do for every entry of a folder. It does not follow a link in the path's last
// part.
func eachEntry(dir string, do func(entry) error) error {
	fd, err := openDir(atCwd, dir, 0o700)
	if err != nil {
		return fail("open", dir, err)
	}
	defer syscall.Close(fd)
	return fail("list", dir, eachEntryAt(fd, do))
}

// openDir opens a folder. rights are those that its owner needs: 0o700 to read, change and search it. If
// they are missing, openDir changes the folder's mode.
func openDir(at int, name string, rights uint32) (int, error) {
	const flags = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Openat(at, name, flags, 0)
	if err == syscall.EACCES && syscall.Fchmodat(at, name, 0o700, 0) == nil {
		fd, err = syscall.Openat(at, name, flags, 0)
	}
	if err != nil {
		return -1, err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err == nil && st.Mode&rights != rights {
		err = syscall.Fchmod(fd, 0o700)
		if err != nil && err != syscall.EPERM { // EPERM: another user's folder; root may use it anyway
			syscall.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}

func eachEntryAt(fd int, do func(entry) error) error {
	if _, err := syscall.Seek(fd, 0, 0); err != nil {
		return err
	}
	var buf [4096]byte
	for {
		n, err := syscall.ReadDirent(fd, buf[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			d := (*syscall.Dirent)(unsafe.Pointer(&rest[0]))
			name := cstring(rest[unsafe.Offsetof(d.Name):d.Reclen])
			rest = rest[d.Reclen:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			if err := do(entry{string(name), isDir(fd, string(name), d.Type)}); err != nil {
				return err
			}
		}
	}
}

// cstring cuts off everything from the first NUL byte.
func cstring(padded []byte) []byte {
	text, _, _ := scan.Cut(padded, 0)
	return text
}

func isDir(fd int, name string, kind uint8) bool {
	if kind != syscall.DT_UNKNOWN {
		return kind == syscall.DT_DIR
	}
	// This file system does not report the kind.
	const flags = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	sub, err := syscall.Openat(fd, name, flags, 0)
	if err == nil {
		syscall.Close(sub)
	}
	return err == nil || err == syscall.EACCES
}

// failure is an error with the operation and its object. Package fmt imports "os", so it
// cannot be used here.
type failure struct {
	op, path string
	err      error
}

func (f *failure) Error() string { return f.op + " " + f.path + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{op, path, err}
}

// asError returns the error of a system call, or nil.
func asError(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

// isFull reports whether an error means that a file system has no room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
