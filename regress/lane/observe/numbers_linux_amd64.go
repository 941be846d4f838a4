//go:build !purego

package observe

const auditArch = 0xc000003e // AUDIT_ARCH_X86_64

// SysSeccomp is the number of seccomp(2).
const SysSeccomp = 317

// Numbers of system calls, from asm/unistd_64.h.
const (
	sysPpoll           = 271
	sysOpen            = 2
	sysStat            = 4
	sysLstat           = 6
	sysAccess          = 21
	sysConnect         = 42
	sysSendto          = 44
	sysSendmsg         = 46
	sysSendmmsg        = 307
	sysBind            = 49
	sysExecve          = 59
	sysTruncate        = 76
	sysGetdents        = 78
	sysChdir           = 80
	sysRename          = 82
	sysMkdir           = 83
	sysRmdir           = 84
	sysCreat           = 85
	sysLink            = 86
	sysUnlink          = 87
	sysSymlink         = 88
	sysReadlink        = 89
	sysMknod           = 133
	sysStatfs          = 137
	sysPivotRoot       = 155
	sysPrctl           = 157
	sysChroot          = 161
	sysMount           = 165
	sysUmount2         = 166
	sysGetxattr        = 191
	sysLgetxattr       = 192
	sysListxattr       = 194
	sysLlistxattr      = 195
	sysGetdents64      = 217
	sysInotifyAddWatch = 254
	sysOpenat          = 257
	sysMkdirat         = 258
	sysMknodat         = 259
	sysNewfstatat      = 262
	sysUnlinkat        = 263
	sysRenameat        = 264
	sysLinkat          = 265
	sysSymlinkat       = 266
	sysReadlinkat      = 267
	sysFaccessat       = 269
	sysNameToHandleAt  = 303
	sysSetns           = 308
	sysProcessVMReadv  = 310
	sysRenameat2       = 316
	sysExecveat        = 322
	sysStatx           = 332
)
