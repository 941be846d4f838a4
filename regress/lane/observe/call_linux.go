//go:build (amd64 || arm64) && !purego

package observe

import "syscall"

const (
	atCwd    = -100     // AT_FDCWD: a path begins in the working folder
	pathOnly = 0x200000 // O_PATH
)

// Numbers that are the same on all architectures.
const (
	sysOpenTree      = 428
	sysMoveMount     = 429
	sysFsopen        = 430
	sysOpenat2       = 437
	sysFaccessat2    = 439
	sysMountSetattr  = 442
	sysFchmodat2     = 452
	sysSetxattrat    = 463
	sysGetxattrat    = 464
	sysListxattrat   = 465
	sysRemovexattrat = 466
	sysOpenTreeAttr  = 467
	sysFileGetattr   = 468
	sysFileSetattr   = 469
)

// none stands for an argument that a call does not have.
const none = -1

// shape says what a system call does with one path, and which of its arguments say more. An
// argument is counted from 0.
type shape struct {
	number int
	kind   Kind // 0 = the open flags say it
	folder int  // argument: the descriptor where a relative path begins; none = the working folder
	path   int  // argument: the address of the path; none = the folder itself is meant
	flags  int  // argument: open flags; with how, the address of a struct open_how
	how    bool
	// mayBeEmpty says that an empty path means the descriptor, if the call's flags agree.
	mayBeEmpty bool
	socket     int    // argument: the address of a socket's address, before its size; 0 = none
	message    bool   // the second argument is a message, which begins with a socket's address
	blind      string // why the observation is incomplete from here on
}

const (
	stopsItself = "the tool itself stops system calls (seccomp with a listener or a tracer)"
	changesRoot = "the tool changes its root folder, or mounts a file system"
)

// shapes lists the system calls that are stopped. Their numbers depend on the architecture. A call with
// two paths is in the list twice.
var shapes = [...]shape{
	{number: sysOpen, folder: none, path: 0, flags: 1},
	{number: syscall.SYS_OPENAT, folder: 0, path: 1, flags: 2},
	{number: sysOpenat2, folder: 0, path: 1, flags: 2, how: true},
	{number: sysOpenTree, kind: Asked, folder: 0, path: 1},
	{number: sysOpenTreeAttr, kind: Asked, folder: 0, path: 1},
	{number: sysCreat, kind: Written, folder: none, path: 0},
	{number: sysMkdir, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_MKDIRAT, kind: Written, folder: 0, path: 1},
	{number: sysMknod, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_MKNODAT, kind: Written, folder: 0, path: 1},
	{number: sysRmdir, kind: Written, folder: none, path: 0},
	{number: sysUnlink, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_UNLINKAT, kind: Written, folder: 0, path: 1},
	{number: sysRename, kind: Opened | Written, folder: none, path: 0},
	{number: sysRename, kind: Written, folder: none, path: 1},
	{number: syscall.SYS_RENAMEAT, kind: Opened | Written, folder: 0, path: 1},
	{number: syscall.SYS_RENAMEAT, kind: Written, folder: 2, path: 3},
	{number: sysRenameat2, kind: Opened | Written, folder: 0, path: 1},
	{number: sysRenameat2, kind: Written, folder: 2, path: 3},
	{number: sysLink, kind: Opened, folder: none, path: 0},
	{number: sysLink, kind: Written, folder: none, path: 1},
	{number: syscall.SYS_LINKAT, kind: Opened, folder: 0, path: 1, mayBeEmpty: true},
	{number: syscall.SYS_LINKAT, kind: Written, folder: 2, path: 3},
	{number: sysSymlink, kind: Written, folder: none, path: 1},
	{number: syscall.SYS_SYMLINKAT, kind: Written, folder: 1, path: 2},
	{number: syscall.SYS_TRUNCATE, kind: Written, folder: none, path: 0},
	{number: sysChmod, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_FCHMODAT, kind: Written, folder: 0, path: 1},
	{number: sysFchmodat2, kind: Written, folder: 0, path: 1},
	{number: sysChown, kind: Written, folder: none, path: 0},
	{number: sysLchown, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_FCHOWNAT, kind: Written, folder: 0, path: 1},
	{number: sysUtime, kind: Written, folder: none, path: 0},
	{number: sysUtimes, kind: Written, folder: none, path: 0},
	{number: sysFutimesat, kind: Written, folder: 0, path: 1},
	{number: syscall.SYS_UTIMENSAT, kind: Written, folder: 0, path: 1},
	{number: syscall.SYS_SETXATTR, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_LSETXATTR, kind: Written, folder: none, path: 0},
	{number: sysSetxattrat, kind: Written, folder: 0, path: 1},
	{number: syscall.SYS_REMOVEXATTR, kind: Written, folder: none, path: 0},
	{number: syscall.SYS_LREMOVEXATTR, kind: Written, folder: none, path: 0},
	{number: sysRemovexattrat, kind: Written, folder: 0, path: 1},
	{number: sysFileSetattr, kind: Written, folder: 0, path: 1},
	{number: syscall.SYS_BIND, kind: Written, socket: 1},
	{number: syscall.SYS_EXECVE, kind: Executed, folder: none, path: 0},
	{number: sysExecveat, kind: Executed, folder: 0, path: 1, mayBeEmpty: true},
	{number: sysStat, kind: Asked, folder: none, path: 0},
	{number: sysLstat, kind: Asked, folder: none, path: 0},
	{number: sysAccess, kind: Asked, folder: none, path: 0},
	{number: sysReadlink, kind: Asked, folder: none, path: 0},
	{number: sysNewfstatat, kind: Asked, folder: 0, path: 1},
	{number: sysStatx, kind: Asked, folder: 0, path: 1},
	{number: syscall.SYS_FACCESSAT, kind: Asked, folder: 0, path: 1},
	{number: sysFaccessat2, kind: Asked, folder: 0, path: 1},
	{number: syscall.SYS_READLINKAT, kind: Asked, folder: 0, path: 1},
	{number: syscall.SYS_CHDIR, kind: Asked, folder: none, path: 0},
	{number: syscall.SYS_STATFS, kind: Asked, folder: none, path: 0},
	{number: syscall.SYS_GETXATTR, kind: Asked, folder: none, path: 0},
	{number: syscall.SYS_LGETXATTR, kind: Asked, folder: none, path: 0},
	{number: syscall.SYS_LISTXATTR, kind: Asked, folder: none, path: 0},
	{number: syscall.SYS_LLISTXATTR, kind: Asked, folder: none, path: 0},
	{number: sysGetxattrat, kind: Asked, folder: 0, path: 1},
	{number: sysListxattrat, kind: Asked, folder: 0, path: 1},
	{number: sysFileGetattr, kind: Asked, folder: 0, path: 1},
	{number: syscall.SYS_INOTIFY_ADD_WATCH, kind: Asked, folder: none, path: 1},
	{number: sysNameToHandleAt, kind: Asked, folder: 0, path: 1},
	{number: sysGetdents, kind: Listed, folder: 0, path: none},
	{number: syscall.SYS_GETDENTS64, kind: Listed, folder: 0, path: none},
	{number: syscall.SYS_CONNECT, kind: Connected, socket: 1},
	{number: syscall.SYS_SENDTO, kind: Connected, socket: 4},
	{number: syscall.SYS_SENDMSG, kind: Connected, message: true},
	{number: sysSendmmsg, kind: Connected, message: true}, // its first message
	{number: SysSeccomp},        // see ownFilter
	{number: syscall.SYS_PRCTL}, // the same
	{number: syscall.SYS_CHROOT, blind: changesRoot},
	{number: syscall.SYS_PIVOT_ROOT, blind: changesRoot},
	{number: sysSetns, blind: changesRoot},
	{number: syscall.SYS_MOUNT, blind: changesRoot},
	{number: syscall.SYS_UMOUNT2, blind: changesRoot},
	{number: sysMoveMount, blind: changesRoot},
	{number: sysFsopen, blind: changesRoot},
	{number: sysMountSetattr, blind: changesRoot},
}

// kindOfFlags returns the kind of an open(2).
func kindOfFlags(flags uint64) Kind {
	switch {
	case flags&pathOnly != 0:
		return Asked
	case flags&syscall.O_TRUNC != 0, flags&syscall.O_ACCMODE == syscall.O_WRONLY:
		return Written
	case flags&(syscall.O_ACCMODE|syscall.O_CREAT) != 0:
		return Opened | Written // it may only read, as a database does
	}
	return Opened
}
