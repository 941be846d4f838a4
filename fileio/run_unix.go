//go:build unix

package fileio

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"muster/fileio/internal/ledger"
)

// Run executes the job in this goroutine, whose thread waits for the disk. For engines.
func (j *Job) Run() error { return j.RunOn(System{}) }

// RunOn executes the job with these calls. For engines.
func (j *Job) RunOn(c Calls) error {
	switch j.Op {
	case OpPut:
		return j.put(c)
	case OpStage:
		return j.stage(c)
	case OpCreate:
		return j.create(c)
	case OpWrite:
		return j.write(c)
	case OpSeal:
		return j.seal(c)
	case OpCommit:
		return j.commit(c)
	case OpDiscard:
		return c.Unlink(j.Folder, j.Temp)
	case OpGet:
		return j.get(c)
	case OpRead:
		return j.read(c, j.Data)
	case OpClose:
		return c.Close(j.File)
	case OpStat:
		return j.stat(c, j.Folder, j.Name)
	case OpDelete:
		return j.delete(c)
	case OpList:
		var err error
		j.Names, err = c.List(j.Folder)
		return err
	case OpSync:
		return c.FlushAll(j.Folder)
	}
	return errors.ErrUnsupported
}

const (
	newFile   = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	oldFile   = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK // a pipe must not block a thread
	fileMode  = 0o644
	writeMost = 1 << 20 // bytes per system call, so that other calls come in between
)

func (j *Job) create(c Calls) error {
	var err error
	j.File, err = c.Open(j.Folder, j.Temp, newFile, fileMode)
	return err
}

// stage leaves a complete file Temp, or no file.
func (j *Job) stage(c Calls) error {
	if err := j.create(c); err != nil {
		return err
	}
	err := j.write(c)
	if e := j.seal(c); err == nil {
		err = e
	}
	if err != nil {
		_ = c.Unlink(j.Folder, j.Temp)
	}
	return err
}

func (j *Job) put(c Calls) error {
	if err := j.stage(c); err != nil {
		return err
	}
	err := j.commit(c)
	if err != nil {
		_ = c.Unlink(j.Folder, j.Temp)
	}
	return err
}

func (j *Job) seal(c Calls) error {
	var err error
	if j.Sync {
		err = c.Flush(j.File)
	}
	// Stat the descriptor: the name may refer to another file later.
	if e := j.stat(c, j.File, ""); err == nil {
		err = e
	}
	// Close releases the descriptor even if it returns an error.
	if e := c.Close(j.File); err == nil && e != unix.EINTR {
		err = e
	}
	j.File = -1
	return err
}

func (j *Job) commit(c Calls) error {
	if err := c.Rename(j.Folder, j.Temp, j.Name); err != nil {
		return err
	}
	if j.Sync {
		return c.FlushFolder(j.Folder)
	}
	return nil
}

// write writes all data. A full disk may accept a part of it.
func (j *Job) write(c Calls) error {
	for done := 0; done < len(j.Data); {
		n, err := c.Write(j.File, j.Data[done:min(len(j.Data), done+writeMost)], j.Offset+int64(done))
		if err != nil {
			return err
		}
		if n <= 0 {
			return io.ErrShortWrite
		}
		done += n
	}
	return nil
}

func (j *Job) get(c Calls) error {
	j.File = -1
	file, err := c.Open(j.Folder, j.Name, oldFile, 0)
	if err != nil {
		return err
	}
	j.File = file
	err = j.stat(c, j.File, "")
	if err == nil { // reading beyond the end would take another call
		err = j.read(c, j.Data[:min(int64(len(j.Data)), j.Info.Size)])
	}
	if err != nil || int64(j.N) >= j.Info.Size {
		_ = c.Close(j.File)
		j.File = -1
	}
	return err
}

// stat sets Info of a name or of an open file. It refuses anything that is not a regular file,
// which somebody may have planted.
func (j *Job) stat(c Calls, at int, name string) error {
	s, err := c.Stat(at, name)
	if err != nil {
		return err
	}
	if !s.Regular {
		return unix.EINVAL
	}
	j.Info = s.Entry
	return nil
}

func (j *Job) read(c Calls, data []byte) error {
	j.N = 0
	for j.N < len(data) {
		n, err := c.Read(j.File, data[j.N:], j.Offset+int64(j.N))
		if err != nil {
			return err
		}
		if n <= 0 {
			return nil
		}
		j.N += n
	}
	return nil
}

func (j *Job) delete(c Calls) error {
	if err := c.Unlink(j.Folder, j.Name); err != nil {
		return err
	}
	if j.Sync {
		return c.FlushFolder(j.Folder)
	}
	return nil
}

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

// findFile describes a file for the ledger. The system or touch has recorded its last use.
func findFile(folder int, encoded, name string) (ledger.Found, bool) {
	var st unix.Stat_t
	err := unix.Fstatat(folder, encoded, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ledger.Found{}, false // as a file that is not listed
	}
	used := time.Unix(st.Atim.Unix())
	if written := time.Unix(st.Mtim.Unix()); written.After(used) {
		used = written
	}
	return ledger.Found{Name: name, Size: st.Size, Used: used}, true
}
