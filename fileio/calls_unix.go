//go:build unix

package fileio

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// calls asks the system, in this thread.
type calls struct{}

// again repeats a system call that a signal has interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func (calls) Open(folder int, name string, flags int, mode uint32) (file int, err error) {
	err = again(func() (err error) {
		file, err = unix.Openat(folder, name, flags, mode)
		return err
	})
	return file, err
}

func (calls) Close(file int) error { return unix.Close(file) }

func (calls) Read(file int, data []byte, offset int64) (n int, err error) {
	err = again(func() (err error) {
		n, err = unix.Pread(file, data, offset)
		return err
	})
	return n, err
}

func (calls) Write(file int, data []byte, offset int64) (n int, err error) {
	err = again(func() (err error) {
		n, err = unix.Pwrite(file, data, offset)
		return err
	})
	return n, err
}

func (calls) Rename(folder int, from, to string) error {
	return again(func() error { return unix.Renameat(folder, from, folder, to) })
}

func (calls) Unlink(folder int, name string) error {
	return again(func() error { return unix.Unlinkat(folder, name, 0) })
}

func (calls) Stat(at int, name string) (Status, error) {
	var st unix.Stat_t
	err := again(func() error {
		if name == "" {
			return unix.Fstat(at, &st)
		}
		return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	e := Entry{Size: st.Size, Changed: time.Unix(st.Mtim.Unix()), Inode: st.Ino}
	return Status{Entry: e, Regular: st.Mode&unix.S_IFMT == unix.S_IFREG}, err
}

// List reads the folder through a descriptor of its own: one that is shared has one place
// at which it reads.
func (c calls) List(folder int) ([]string, error) {
	own, err := c.Open(folder, ".", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(own), "")
	defer f.Close()
	return f.Readdirnames(-1)
}

func (calls) Flush(file int) error {
	return again(func() error { return flush(file) })
}

func (calls) FlushFolder(folder int) error {
	return again(func() error { return unix.Fsync(folder) })
}

func (calls) FlushAll(folder int) error {
	return again(func() error { return syncFS(folder) })
}
