package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"muster/regress/lane"
)

// removeTree removes a folder with everything in it. It first detaches mounts in it. If that
// fails, it touches nothing.
func removeTree(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := lane.Detach(dir); err != nil {
		return fmt.Errorf("%w: unmount it and remove %s", err, dir)
	}
	return removeFiles(dir)
}

// removeFiles is os.RemoveAll for files and folders whose modes and flags a case may have
// changed.
func removeFiles(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d == nil {
			return nil
		}
		if d.IsDir() || d.Type().IsRegular() {
			clearFlags(path)
		}
		if d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// clearFlags clears the flags that keep even root from removing a file.
func clearFlags(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	const stuck = unix.STATX_ATTR_IMMUTABLE | unix.STATX_ATTR_APPEND // the same bits
	if flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == nil && flags&stuck != 0 {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags&^stuck))
	}
}
