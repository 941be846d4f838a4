//go:build unix

package fileio

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Run executes the job in this goroutine, whose thread waits for the disk: it is for
// engines.
func (j *Job) Run() error {
	switch j.Op {
	case OpPut:
		return j.put()
	case OpStage:
		return j.stage()
	case OpCreate:
		return j.create()
	case OpWrite:
		return writeAll(j.File, j.Data, j.Offset)
	case OpSeal:
		return j.seal()
	case OpCommit:
		return j.commit()
	case OpDiscard:
		return again(func() error { return unix.Unlinkat(j.Folder, j.Temp, 0) })
	case OpGet:
		return j.get()
	case OpRead:
		return j.read()
	case OpClose:
		return unix.Close(j.File)
	case OpStat:
		return j.stat()
	case OpDelete:
		return j.delete()
	case OpList:
		return j.list()
	case OpSync:
		return syncFS(j.Folder)
	}
	return errors.ErrUnsupported
}

// again repeats a system call that a signal has interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

const (
	newFile   = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	oldFile   = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK // a pipe must not keep a thread
	fileMode  = 0o644
	writeMost = 1 << 20 // of one system call, so that others come in between
)

func (j *Job) create() error {
	return again(func() (err error) {
		j.File, err = unix.Openat(j.Folder, j.Temp, newFile, fileMode)
		return err
	})
}

// stage leaves a whole file Temp, or none.
func (j *Job) stage() error {
	if err := j.create(); err != nil {
		return err
	}
	err := writeAll(j.File, j.Data, 0)
	if e := j.seal(); err == nil {
		err = e
	}
	if err != nil {
		_ = unix.Unlinkat(j.Folder, j.Temp, 0)
	}
	return err
}

func (j *Job) put() error {
	if err := j.stage(); err != nil {
		return err
	}
	err := j.commit()
	if err != nil {
		_ = unix.Unlinkat(j.Folder, j.Temp, 0)
	}
	return err
}

func (j *Job) seal() error {
	var err error
	if j.Sync {
		err = again(func() error { return flush(j.File) })
	}
	// The descriptor is gone, also after an error.
	if e := unix.Close(j.File); err == nil && e != unix.EINTR {
		err = e
	}
	j.File = -1
	return err
}

func (j *Job) commit() error {
	if err := again(func() error { return unix.Renameat(j.Folder, j.Temp, j.Folder, j.Name) }); err != nil {
		return err
	}
	if j.Sync {
		if err := again(func() error { return flushFolder(j.Folder) }); err != nil {
			return err
		}
	}
	return j.stat()
}

// writeAll writes all data, or returns why not: a disk that is full takes a part.
func writeAll(file int, data []byte, offset int64) error {
	for len(data) > 0 {
		n, err := unix.Pwrite(file, data[:min(len(data), writeMost)], offset)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n <= 0:
			return io.ErrShortWrite
		default:
			data, offset = data[n:], offset+int64(n)
		}
	}
	return nil
}

func (j *Job) get() error {
	j.File = -1
	var file int
	if err := again(func() (err error) {
		file, err = unix.Openat(j.Folder, j.Name, oldFile, 0)
		return err
	}); err != nil {
		return err
	}
	j.File = file
	err := j.opened()
	if err == nil {
		err = j.read()
	}
	if err != nil || int64(j.N) >= j.Info.Size {
		_ = unix.Close(j.File)
		j.File = -1
	}
	return err
}

// opened sets what the system knows of an open file. Who plants anything else than a file
// gets nothing for it.
func (j *Job) opened() error {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(j.File, &st) }); err != nil {
		return err
	}
	return j.setInfo(&st)
}

func (j *Job) stat() error {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(j.Folder, j.Name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return err
	}
	return j.setInfo(&st)
}

func (j *Job) setInfo(st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.EINVAL
	}
	j.Info = Entry{Size: st.Size, Changed: time.Unix(st.Mtim.Unix()), Inode: st.Ino}
	return nil
}

func (j *Job) read() error {
	j.N = 0
	for j.N < len(j.Data) {
		n, err := unix.Pread(j.File, j.Data[j.N:], j.Offset+int64(j.N))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n <= 0:
			return nil
		default:
			j.N += n
		}
	}
	return nil
}

func (j *Job) delete() error {
	if err := again(func() error { return unix.Unlinkat(j.Folder, j.Name, 0) }); err != nil {
		return err
	}
	if j.Sync {
		return again(func() error { return flushFolder(j.Folder) })
	}
	return nil
}

// list reads the folder through a descriptor of its own: one that is shared has one place
// at which it reads.
func (j *Job) list() error {
	var own int
	err := again(func() (err error) {
		own, err = unix.Openat(j.Folder, ".", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
		return err
	})
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(own), "")
	defer f.Close()
	j.Names, err = f.Readdirnames(-1)
	return err
}
