package lane

import (
	"syscall"
	"unsafe"
)

// File flags that keep a file from being removed, and a folder from losing one.
// Root's case may set them where the kernel lets nobody drop capabilities.
const (
	immutable  = 0x10 // FS_IMMUTABLE_FL
	appendOnly = 0x20 // FS_APPEND_FL
)

// The commands to get and set a file's flags, as most architectures number
// them; on others the flags stay, and removing says so.
const (
	getFlags = 2<<30 | longBytes<<16 | 'f'<<8 | 1 // FS_IOC_GETFLAGS
	setFlags = 1<<30 | longBytes<<16 | 'f'<<8 | 2 // FS_IOC_SETFLAGS

	longBytes = unsafe.Sizeof(uintptr(0))
)

// loosen takes those flags from an open file, and reports whether it had any.
func loosen(fd int) bool {
	var flags [2]uint32 // an int, whatever the command's number says
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

// loosenAt is loosen for what has a name in a folder. Only files and folders are
// opened: opening a device may do something.
func loosenAt(dir int, name string) bool {
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
	return loosen(fd)
}
