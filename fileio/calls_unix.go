//go:build unix

package fileio

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// System makes Calls in the caller's thread.
type System struct{}

// retryInterrupted repeats a system call that a signal interrupts.
func retryInterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func (System) Open(folder int, name string, flags int, mode uint32) (file int, err error) {
	err = retryInterrupted(func() (err error) {
		file, err = unix.Openat(folder, name, flags, mode)
		return err
	})
	return file, err
}

func (System) Close(file int) error { return unix.Close(file) }

func (System) Read(file int, data []byte, offset int64) (n int, err error) {
	err = retryInterrupted(func() (err error) {
		n, err = unix.Pread(file, data, offset)
		return err
	})
	return n, err
}

func (System) Write(file int, data []byte, offset int64) (n int, err error) {
	err = retryInterrupted(func() (err error) {
		n, err = unix.Pwrite(file, data, offset)
		return err
	})
	return n, err
}

func (System) Rename(folder int, from, to string) error {
	return retryInterrupted(func() error { return unix.Renameat(folder, from, folder, to) })
}

func (System) Unlink(folder int, name string) error {
	return retryInterrupted(func() error { return unix.Unlinkat(folder, name, 0) })
}

func (System) Stat(at int, name string) (Status, error) {
	var st unix.Stat_t
	err := retryInterrupted(func() error {
		if name == "" {
			return unix.Fstat(at, &st)
		}
		return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	e := Entry{Size: st.Size, Changed: time.Unix(st.Mtim.Unix()), Inode: st.Ino}
	return Status{Entry: e, Regular: st.Mode&unix.S_IFMT == unix.S_IFREG}, err
}

// List reads the folder through its own descriptor, because a shared descriptor has one read
// position.
func (s System) List(folder int) ([]string, error) {
	own, err := s.Open(folder, ".", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(own), "")
	defer f.Close()
	return f.Readdirnames(-1)
}

func (System) Flush(file int) error {
	return retryInterrupted(func() error { return flush(file) })
}

func (System) FlushFolder(folder int) error {
	return retryInterrupted(func() error { return unix.Fsync(folder) })
}

func (System) FlushAll(folder int) error {
	return retryInterrupted(func() error { return syncFS(folder) })
}
