//go:build (amd64 || arm64) && !purego

package observe

import (
	"bytes"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

const pageBytes = 4096

// vector is struct iovec.
type vector struct {
	base   uintptr
	length uintptr
}

// pages is memory for a text of another process.
type pages [2 * pageBytes]byte

// readString reads a text that ends with a zero byte from the memory of a process.
func (b *pages) readString(pid uint32, address uint64) (string, error) {
	// The text may end just before a page that is not mapped, so each page is read by itself.
	first := pageBytes - address%pageBytes
	n, err := copyFrom(pid, b[:first+pageBytes], []vector{{uintptr(address), uintptr(first)}, {uintptr(address + first), pageBytes}})
	if err != nil {
		return "", err
	}
	text, _, ended := bytes.Cut(b[:n], []byte{0})
	if !ended {
		return "", syscall.ENAMETOOLONG
	}
	return string(text), nil
}

// readFrom reads bytes from the memory of a process.
func readFrom(pid uint32, address uint64, into []byte) error {
	n, err := copyFrom(pid, into, []vector{{uintptr(address), uintptr(len(into))}})
	if err == nil && n < len(into) {
		err = syscall.EFAULT
	}
	return err
}

func copyFrom(pid uint32, into []byte, remote []vector) (n int, err error) {
	local := vector{uintptr(unsafe.Pointer(unsafe.SliceData(into))), uintptr(len(into))}
	r, _, e := syscall.RawSyscall6(sysProcessVMReadv, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(unsafe.SliceData(remote))), uintptr(len(remote)), 0)
	if e != 0 {
		return 0, e
	}
	return int(r), nil
}

// folderOf returns the folder in which a relative path of a process begins: that of a descriptor,
// or its working folder.
func folderOf(pid uint32, descriptor int32) (string, error) {
	name := "/proc/" + strconv.Itoa(int(pid))
	if descriptor == atCwd {
		name += "/cwd"
	} else {
		name += "/fd/" + strconv.Itoa(int(descriptor))
	}
	folder, err := readLink(name)
	if err == nil && (!strings.HasPrefix(folder, "/") || strings.HasSuffix(folder, " (deleted)")) {
		err = syscall.ENOENT // a pipe has no path, and a file without a name cannot be looked up again
	}
	return folder, err
}

func readLink(name string) (string, error) {
	var buf [pageBytes]byte
	n, err := syscall.Readlink(name, buf[:])
	if err == nil && n == len(buf) {
		err = syscall.ENAMETOOLONG
	}
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// find returns the path without links, and what it leads to.
func find(path string) (string, Form) {
	fd, err := syscall.Open(path, pathOnly|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", Absent
	}
	defer syscall.Close(fd)
	real, err := readLink("/proc/self/fd/" + strconv.Itoa(fd))
	var st syscall.Stat_t
	if err != nil || syscall.Fstat(fd, &st) != nil {
		return path, Other
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return real, File
	case syscall.S_IFDIR:
		return real, Folder
	}
	return real, Other
}

// absolute returns a path of a process from the root. An empty path is the folder itself.
func absolute(pid uint32, folder int32, path string) (string, error) {
	if strings.HasPrefix(path, "/") {
		return clean(path), nil
	}
	base, err := folderOf(pid, folder)
	if err != nil {
		return "", err
	}
	return clean(base + "/" + path), nil
}

// clean removes empty and "." parts of a path. It keeps "..", which may follow a link.
func clean(path string) string {
	if !strings.Contains(path, "//") && !strings.Contains(path, "/.") && !strings.HasSuffix(path, "/") {
		return path
	}
	return rebuild(path, false)
}

// withoutDots also removes "..", as if no part were a link.
func withoutDots(path string) string {
	if !strings.Contains(path, "/..") {
		return path
	}
	return rebuild(path, true)
}

func rebuild(path string, dots bool) string {
	kept := []string{}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && dots:
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, part)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func isBelow(path, folder string) bool {
	return strings.HasPrefix(path, folder) && (len(path) == len(folder) || path[len(folder)] == '/')
}
