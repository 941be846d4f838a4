//go:build !purego

package observe

const auditArch = 0xc00000b7 // AUDIT_ARCH_AARCH64

// SysSeccomp is the number of seccomp(2).
const SysSeccomp = 277

// Numbers of system calls, from asm-generic/unistd.h. The older calls are missing here.
const (
	sysPpoll           = 73
	sysGetxattr        = 8
	sysLgetxattr       = 9
	sysListxattr       = 11
	sysLlistxattr      = 12
	sysInotifyAddWatch = 27
	sysMknodat         = 33
	sysMkdirat         = 34
	sysUnlinkat        = 35
	sysSymlinkat       = 36
	sysLinkat          = 37
	sysRenameat        = 38
	sysUmount2         = 39
	sysMount           = 40
	sysPivotRoot       = 41
	sysStatfs          = 43
	sysTruncate        = 45
	sysFaccessat       = 48
	sysChdir           = 49
	sysChroot          = 51
	sysOpenat          = 56
	sysGetdents64      = 61
	sysReadlinkat      = 78
	sysNewfstatat      = 79
	sysPrctl           = 167
	sysBind            = 200
	sysConnect         = 203
	sysSendto          = 206
	sysSendmsg         = 211
	sysSendmmsg        = 269
	sysExecve          = 221
	sysNameToHandleAt  = 264
	sysSetns           = 268
	sysProcessVMReadv  = 270
	sysRenameat2       = 276
	sysExecveat        = 281
	sysStatx           = 291

	missing = -1

	sysOpen     = missing
	sysStat     = missing
	sysLstat    = missing
	sysAccess   = missing
	sysGetdents = missing
	sysRename   = missing
	sysMkdir    = missing
	sysRmdir    = missing
	sysCreat    = missing
	sysLink     = missing
	sysUnlink   = missing
	sysSymlink  = missing
	sysReadlink = missing
	sysMknod    = missing
)
