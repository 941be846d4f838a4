package lane

import (
	"syscall"
	"unsafe"
)

// These file flags keep a file from being removed, and a folder from losing one. A case that
// runs as root may set them where the kernel lets nobody drop capabilities.
const (
	immutable  = 0x10 // FS_IMMUTABLE_FL
	appendOnly = 0x20 // FS_APPEND_FL
)

// These commands read and set a file's flags, as most architectures number them. On others
// the flags stay, and removing the file fails with an error.
const (
	getFlags = 2<<30 | longBytes<<16 | 'f'<<8 | 1 // FS_IOC_GETFLAGS
	setFlags = 1<<30 | longBytes<<16 | 'f'<<8 | 2 // FS_IOC_SETFLAGS

	longBytes = unsafe.Sizeof(uintptr(0))
)

// clearFlags clears those flags of an open file, and reports whether it had any.
func clearFlags(fd int) bool {
	var flags [2]uint32 // the kernel writes an int, although the command's number says a long
	if ioctl(fd, getFlags, &flags) != nil || flags[0]&(immutable|appendOnly) == 0 {
		return false
	}
	flags[0] &^= immutable | appendOnly
	return ioctl(fd, setFlags, &flags) == nil
}

func ioctl(fd int, command uintptr, flags *[2]uint32) error {
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), command, uintptr(unsafe.Pointer(flags)))
	if e != 0 {
		return e
	}
	return nil
}

// clearFlagsAt does the same for a name in a folder. It opens only files and folders: opening
// a device may have an effect.
func clearFlagsAt(dir int, name string) bool {
	const look = 0x200000 // O_PATH
	fd, err := syscall.Openat(dir, name, look|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	syscall.Close(fd)
	if form := st.Mode & syscall.S_IFMT; err != nil || form != syscall.S_IFREG && form != syscall.S_IFDIR {
		return false
	}
	fd, err = syscall.Openat(dir, name, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	return clearFlags(fd)
}
