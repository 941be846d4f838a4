package wording_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"testing"

	"muster/internal/wording"
)

func TestOf(t *testing.T) {
	folder := t.TempDir()
	_, number := strconv.Atoi("x")
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("a plain sentence"), "a plain sentence"},
		{fmt.Errorf("--jobs: %w: give another", number), `--jobs: "x" is not a number: give another`},
		{&fs.PathError{Op: "open", Path: folder + "/no/x", Err: syscall.ENOENT}, "the folder " + folder + "/no does not exist: make it, or name another"},
		{&fs.PathError{Op: "open", Path: folder + "/x", Err: syscall.ENOENT}, folder + "/x does not exist"},
		{&os.LinkError{Op: "rename", Old: "a", New: folder, Err: syscall.EISDIR}, folder + " is a folder: name a file"},
		{&os.SyscallError{Syscall: "pidfd_open", Err: syscall.EMFILE}, "too many open files"},
		{
			fmt.Errorf("the lane: %w", &fs.PathError{Op: "fork/exec", Path: "/tool", Err: syscall.EACCES}),
			"the lane: you may not use /tool: change its permissions, or name another",
		},
		{
			&url.Error{Op: "Get", URL: "http://a", Err: &net.OpError{Op: "dial", Net: "tcp", Addr: address("a:80"), Err: &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}}},
			"http://a: a:80: connection refused",
		},
		{errors.Join(syscall.ENOSPC, &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}), "no space left on device\n/x: no space left on device"},
	} {
		if got := wording.Of(c.err); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.err, got, c.want)
		}
	}
}

// The caller's words take precedence.
func TestOwn(t *testing.T) {
	own := func(err error) string {
		if _, is := err.(*fs.PathError); is {
			return "it is there"
		}
		return ""
	}
	if got := wording.Of(fmt.Errorf("x: %w", &fs.PathError{Op: "mkdir", Path: "a", Err: syscall.EEXIST}), own); got != "x: it is there" {
		t.Error(got)
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }
