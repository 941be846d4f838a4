package lane

import "syscall"

// capture is the file that takes one of the streams. A file costs far less
// than a pipe and somebody to empty it; it is reused until something was
// written. O_APPEND lets several writers share it as they would a pipe.
type capture struct {
	path string
	fd   int
}

func (c *capture) open() error {
	const flags = syscall.O_RDWR | syscall.O_CREAT | syscall.O_TRUNC | syscall.O_APPEND | syscall.O_CLOEXEC
	fd, err := syscall.Open(c.path, flags, 0o600)
	c.fd = fd
	return fail("open", c.path, err)
}

func (c *capture) size() int64 {
	var st syscall.Stat_t
	if syscall.Fstat(c.fd, &st) != nil {
		return 0
	}
	return st.Size
}

// moveTo gives the file another name and starts a new one.
func (c *capture) moveTo(path string) error {
	if err := syscall.Rename(c.path, path); err != nil {
		return fail("collect", c.path, err)
	}
	syscall.Close(c.fd)
	return c.open()
}
