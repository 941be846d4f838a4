package faults

import (
	"fmt"
	"slices"
	"syscall"
	"time"
)

// A fault makes some calls fail, do half of their work, or take long. The zero fault changes none.
type fault struct {
	kind  kind
	nth   int  // the first call of the kind's operations that has the fault, from 1
	stays bool // all later ones have it too

	seen  int
	first call // that had it
}

// A kind of fault is what happens, and to which operations.
type kind struct {
	name  string
	ops   []string // the operations that may have it; nil = all
	err   syscall.Errno
	half  bool
	delay time.Duration
}

// writers are the operations for which a disk needs room.
var writers = []string{"create", "tmpfile", "mkdir", "symlink", "link", "rename", "write", "truncate", "fallocate", "fsync", "close"}

var (
	damaged = kind{name: "EIO", err: syscall.EIO}
	full    = kind{name: "ENOSPC", ops: writers, err: syscall.ENOSPC}
	short   = kind{name: "short", ops: []string{"read", "write"}, half: true}
	slow    = kind{name: "slow", delay: 100 * time.Millisecond}
)

func (f *fault) String() string {
	how := "only"
	if f.stays {
		how = "and all later ones"
	}
	return fmt.Sprintf("%s at call %d (%s) %s", f.kind.name, f.nth, f.first, how)
}

// does counts a call, and reports whether the fault happens to it.
func (f *fault) does(c call) bool {
	if !f.kind.may(c) {
		return false
	}
	f.seen++
	does := f.nth > 0 && (f.seen == f.nth || f.stays && f.seen > f.nth)
	if does && f.first == (call{}) {
		f.first = c
	}
	return does
}

// may reports whether a kind of fault may happen to a call.
func (k kind) may(c call) bool { return k.ops == nil || slices.Contains(k.ops, c.op) }
