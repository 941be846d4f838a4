// Package fork starts a command once and forks it for each case. The command stops before it touches
// its source, by a library that is loaded into it (the shim, in regress/internal/forkserver).
//
// Input: a command, and functions of the lane helper that start a process in namespaces. Output: the
// process numbers of forks, or a Refusal. The package must not import "os", as a part of the lane
// helper. It must not run a case, nor look at what one left.
package fork

import (
	"errors"
	"strconv"
)

// Refusal says why a command is not fit for a fork server. Its text is for users: it follows the name
// of the command.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return r.Why }

// IsRefusal reports whether an error is a Refusal.
func IsRefusal(err error) bool { return errors.As(err, new(*Refusal)) }

// ErrParentGone reports that nobody waits for the case any more.
var ErrParentGone = errors.New("the parent is gone")

// explain explains why the shim refuses: by the number of a system call on x86-64, or by a negative number of the
// enum in shim.c that begins with PRINTED.
func explain(why int64) string {
	switch why {
	case -1, write, writev:
		return "it prints before it touches its source"
	case -2:
		return "it keeps a file, a pipe or a socket open before it touches its source"
	case -3:
		return "it reads its standard input before it touches its source"
	case -4:
		return "it ends before it touches its source"
	case -5:
		return "the kernel cannot stop it at a system call (Linux 5.11 on x86-64 can)"
	case -6:
		return "Python chooses a random hash seed: set one with --env PYTHONHASHSEED=0"
	case -7:
		return "it makes system calls of another architecture"
	case -8:
		return "the shim cannot start in it"
	case -9:
		return "it closes or replaces its standard input or output before it touches its source"
	case -10:
		return "it lists processes or open files in /proc before it touches its source"
	case openat:
		return "it writes a file before it touches its source"
	case clone, fork, vfork, clone3:
		return "it starts a thread or a process before it touches its source"
	}
	return "it makes system call " + strconv.FormatInt(why, 10) + " before it touches its source, whose effect a fork may not share"
}

// These are numbers of system calls on x86-64.
const (
	write  = 1
	writev = 20
	clone  = 56
	fork   = 57
	vfork  = 58
	openat = 257
	clone3 = 435
)
