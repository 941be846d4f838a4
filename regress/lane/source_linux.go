package lane

import (
	"errors"
	"io"
	"syscall"
)

// errChanged reports a source that is not as it was listed.
var errChanged = errors.New("the corpus changed while it was in use")

// errUnreadable reports a source that the user may not read. Folders are listed without opening files.
var errUnreadable = errors.New("permission denied; give yourself the right to read it, or leave it out")

// content is the bytes of an item: in the corpus, or literal.
type content struct {
	name    string
	fd      int
	offset  int64
	literal bool // it is bytes, and in no file
	bytes   string
}

func openSource(it Item) (content, error) {
	if it.Literal {
		return content{name: it.Name, fd: CorpusFD, literal: true, bytes: it.Content}, nil
	}
	if it.Path == "" {
		return content{name: it.Name, fd: CorpusFD, offset: it.Offset}, nil
	}
	// O_NONBLOCK: the file may have become a named pipe.
	const flags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	fd, err := syscall.Openat(CorpusFD, it.Path, flags, 0)
	switch err {
	case nil:
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENXIO:
		return content{}, fail("read", it.Path, errChanged)
	case syscall.EACCES:
		return content{}, fail("read", it.Path, errUnreadable)
	default:
		return content{}, fail("read", it.Path, err)
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	if err == nil && (st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size != it.Size) {
		err = errChanged
	}
	if err != nil {
		syscall.Close(fd)
		return content{}, fail("read", it.Path, err)
	}
	return content{name: it.Path, fd: fd}, nil
}

func (c content) close() {
	if c.fd != CorpusFD {
		closeFD(c.fd)
	}
}

// read fills b from position at of the content.
func (c content) read(b []byte, at int64) error {
	if c.literal {
		if at+int64(len(b)) > int64(len(c.bytes)) {
			return fail("read", c.name, errDamaged)
		}
		copy(b, c.bytes[at:])
		return nil
	}
	err := readFull(c.fd, b, c.offset+at)
	if err == io.ErrUnexpectedEOF {
		err = errChanged
	}
	return fail("read", c.name, err)
}

// sameAsGiven reports whether the file at the path is still as it was placed: form, content,
// executable bit, a symlink's target.
func (p *path) sameAsGiven(st *syscall.Stat_t, it Item) (bool, error) {
	form := st.Mode & syscall.S_IFMT
	if it.Target != "" {
		if form != syscall.S_IFLNK {
			return false, nil
		}
		target, err := p.readLink()
		return target == it.Target, err
	}
	if form != syscall.S_IFREG || st.Size != it.Size || executable(st) != it.Exec {
		return false, nil
	}
	now, err := p.openToRead(st)
	if err != nil {
		return false, err
	}
	defer syscall.Close(now)
	then, err := openSource(it)
	if err != nil {
		return false, err
	}
	defer then.close()
	return equal(now, then, it.Size, p)
}

func executable(st *syscall.Stat_t) bool { return st.Mode&0o100 != 0 }

func (p *path) readLink() (string, error) {
	var buf [4096]byte
	n, err := syscall.Readlink(p.String(), buf[:])
	if err != nil {
		return "", p.fail("read link", err)
	}
	return string(buf[:n]), nil
}

// openToRead opens a regular file that a case left. If its mode prevents that, the mode is
// changed for a moment: the file may have other names outside.
func (p *path) openToRead(st *syscall.Stat_t) (int, error) {
	const flags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	fd, err := p.open(flags, 0)
	if err == syscall.EACCES {
		if err := p.chmod(0o400); err != nil {
			return -1, p.fail("read", err)
		}
		fd, err = p.open(flags, 0)
		if e := p.chmod(st.Mode & 0o7777); err == nil && e != nil {
			syscall.Close(fd)
			err = e
		}
	}
	return fd, p.fail("read", err)
}

// equal compares the first size bytes of a file with those of a content.
func equal(now int, then content, size int64, path *path) (bool, error) {
	var x, y [4096]byte
	for at := int64(0); at < size; {
		n := min(size-at, int64(len(x)))
		if err := readFull(now, x[:n], at); err != nil {
			return false, path.fail("read", err)
		}
		if err := then.read(y[:n], at); err != nil {
			return false, err
		}
		if string(x[:n]) != string(y[:n]) {
			return false, nil
		}
		at += n
	}
	return true, nil
}
