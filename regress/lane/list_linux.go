package lane

import (
	"strings"
	"syscall"
	"unsafe"
)

// entry is a name in a folder.
type entry struct {
	name string
	dir  bool
}

// list reads a folder without following a link in its last part. A folder
// that its owner may not read is opened up first.
func list(dir string) ([]entry, error) {
	fd, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	return listAt(fd, dir)
}

func openDir(dir string) (int, error) {
	const flags = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Open(dir, flags, 0)
	if err == syscall.EACCES && syscall.Chmod(dir, 0o700) == nil {
		fd, err = syscall.Open(dir, flags, 0)
	}
	return fd, fail("open", dir, err)
}

func listAt(fd int, dir string) ([]entry, error) {
	var (
		entries []entry
		buf     [8192]byte
	)
	for {
		n, err := syscall.ReadDirent(fd, buf[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, fail("list", dir, err)
		}
		if n == 0 {
			return entries, nil
		}
		for rest := buf[:n]; len(rest) > 0; {
			d := (*syscall.Dirent)(unsafe.Pointer(&rest[0]))
			name := cstring(rest[unsafe.Offsetof(d.Name):d.Reclen])
			if name != "." && name != ".." {
				entries = append(entries, entry{strings.Clone(name), isDir(dir+"/"+name, d.Type)})
			}
			rest = rest[d.Reclen:]
		}
	}
}

func isDir(path string, kind uint8) bool {
	if kind != syscall.DT_UNKNOWN {
		return kind == syscall.DT_DIR
	}
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR
}

// empty removes everything below dir.
func empty(dir string) error {
	entries, err := list(dir)
	if err != nil {
		return err
	}
	if err := syscall.Access(dir, 7); err != nil { // 7: read, write and search
		if err := syscall.Chmod(dir, 0o755); err != nil {
			return fail("open up", dir, err)
		}
	}
	for _, e := range entries {
		if err := remove(dir, e); err != nil {
			return err
		}
	}
	return nil
}

func remove(dir string, e entry) error {
	path := dir + "/" + e.name
	if !e.dir {
		return fail("remove", path, syscall.Unlink(path))
	}
	if err := empty(path); err != nil {
		return err
	}
	return fail("remove", path, syscall.Rmdir(path))
}
