package bundle

import (
	"fmt"
	"io/fs"
	"muster/regress"
	"syscall"
	"testing"
)

// An error names a file once, says whose move it is, and what that is.
func TestUnreadable(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EACCES: "3 a cannot be sent along: permission denied; give yourself the right to read it, or leave it out",
		syscall.EIO:    "3 a cannot be sent along: input/output error",
		syscall.ENOENT: "2 a went away while it was read; run again when nothing writes there",
	} {
		err := unreadable("a", &fs.PathError{Op: "open", Path: "/x/a", Err: errno})
		if got := fmt.Sprint(regress.ClassOf(err).Status(), " ", err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
