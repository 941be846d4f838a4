//go:build (amd64 || arm64) && !purego

package observe

import "syscall"

const (
	atCwd    = -100     // AT_FDCWD: a path begins in the working folder
	pathOnly = 0x200000 // O_PATH
)

// Numbers that are the same on all architectures.
const (
	sysOpenat2    = 437
	sysFaccessat2 = 439
)

// none stands for an argument that a call does not have.
const none = -1

// shape says what a system call does, and which of its arguments say more. An argument is counted
// from 0.
type shape struct {
	number int
	kind   Kind // 0 = the open flags say it
	folder int  // argument: the descriptor where a relative path begins; none = the working folder
	path   int  // argument: the address of the path; none = the folder itself is meant
	flags  int  // argument: open flags; with how, the address of a struct that begins with them
	how    bool
	// mayBeEmpty says that an empty path means the descriptor, if the call's flags agree.
	mayBeEmpty bool
	socket     int    // argument: the address of a socket's address, before its size; 0 = none
	blind      string // why the observation is incomplete from here on
}

const (
	watchesItself = "the tool itself watches system calls (seccomp)"
	changesRoot   = "the tool changes its root folder, or mounts a file system"
)

// shapes lists the calls that are stopped. Their numbers differ in all but name.
var shapes = [...]shape{
	{number: sysOpen, folder: none, path: 0, flags: 1},
	{number: sysOpenat, folder: 0, path: 1, flags: 2},
	{number: sysOpenat2, folder: 0, path: 1, flags: 2, how: true},
	{number: sysCreat, kind: Written, folder: none, path: 0},
	{number: sysMkdir, kind: Written, folder: none, path: 0},
	{number: sysMkdirat, kind: Written, folder: 0, path: 1},
	{number: sysMknod, kind: Written, folder: none, path: 0},
	{number: sysMknodat, kind: Written, folder: 0, path: 1},
	{number: sysRmdir, kind: Written, folder: none, path: 0},
	{number: sysUnlink, kind: Written, folder: none, path: 0},
	{number: sysUnlinkat, kind: Written, folder: 0, path: 1},
	// These make their second path. A first path that goes away was read or written before.
	{number: sysRename, kind: Written, folder: none, path: 1},
	{number: sysRenameat, kind: Written, folder: 2, path: 3},
	{number: sysRenameat2, kind: Written, folder: 2, path: 3},
	{number: sysLink, kind: Written, folder: none, path: 1},
	{number: sysLinkat, kind: Written, folder: 2, path: 3},
	{number: sysSymlink, kind: Written, folder: none, path: 1},
	{number: sysSymlinkat, kind: Written, folder: 1, path: 2},
	{number: sysExecve, kind: Executed, folder: none, path: 0},
	{number: sysExecveat, kind: Executed, folder: 0, path: 1, mayBeEmpty: true},
	{number: sysStat, kind: Asked, folder: none, path: 0},
	{number: sysLstat, kind: Asked, folder: none, path: 0},
	{number: sysAccess, kind: Asked, folder: none, path: 0},
	{number: sysReadlink, kind: Asked, folder: none, path: 0},
	{number: sysNewfstatat, kind: Asked, folder: 0, path: 1},
	{number: sysStatx, kind: Asked, folder: 0, path: 1},
	{number: sysFaccessat, kind: Asked, folder: 0, path: 1},
	{number: sysFaccessat2, kind: Asked, folder: 0, path: 1},
	{number: sysReadlinkat, kind: Asked, folder: 0, path: 1},
	{number: sysGetdents, kind: Listed, folder: 0, path: none},
	{number: sysGetdents64, kind: Listed, folder: 0, path: none},
	{number: sysConnect, socket: 1},
	{number: SysSeccomp, blind: watchesItself},
	{number: sysChroot, blind: changesRoot},
	{number: sysPivotRoot, blind: changesRoot},
	{number: sysMount, blind: changesRoot},
}

// shapeOf returns the shape of a call that was stopped, or nil.
func shapeOf(number int32) *shape {
	for i := range shapes {
		if shapes[i].number == int(number) {
			return &shapes[i]
		}
	}
	return nil
}

// listens reports whether a call of seccomp(2) wants a listener of its own.
func listens(args *[6]uint64) bool {
	const setFilter, newListener = 1, 8
	return args[0] == setFilter && args[1]&newListener != 0
}

// kindOfFlags returns the kind of an open(2).
func kindOfFlags(flags uint64) Kind {
	switch {
	case flags&pathOnly != 0:
		return Asked
	case flags&(syscall.O_ACCMODE|syscall.O_CREAT|syscall.O_TRUNC) != 0:
		return Written
	}
	return Opened
}
