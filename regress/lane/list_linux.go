package lane

import (
	"syscall"
	"unsafe"
)

// entry is a name in a folder.
type entry struct {
	name string
	dir  bool
}

// eachEntry calls do for every entry of a folder. It does not follow a link in the path's last
// part.
func eachEntry(dir string, do func(entry) error) error {
	fd, err := openDir(atCwd, dir)
	if err != nil {
		return fail("open", dir, err)
	}
	defer syscall.Close(fd)
	return fail("list", dir, eachEntryAt(fd, do))
}

// openDir opens a folder to read, change and search it. It changes the folder's mode if
// necessary.
func openDir(at int, name string) (int, error) {
	const flags = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Openat(at, name, flags, 0)
	if err == syscall.EACCES && syscall.Fchmodat(at, name, 0o700, 0) == nil {
		fd, err = syscall.Openat(at, name, flags, 0)
	}
	if err != nil {
		return -1, err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err == nil && st.Mode&0o700 != 0o700 {
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
	for i, c := range padded {
		if c == 0 {
			return padded[:i]
		}
	}
	return padded
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
