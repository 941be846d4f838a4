//go:build !purego

package observe

const auditArch = 0xc000003e // AUDIT_ARCH_X86_64

// SysSeccomp is the number of seccomp(2).
const SysSeccomp = 317

// Numbers of system calls, from asm/unistd_64.h.
const (
	sysOpen           = 2
	sysStat           = 4
	sysLstat          = 6
	sysAccess         = 21
	sysConnect        = 42
	sysExecve         = 59
	sysGetdents       = 78
	sysRename         = 82
	sysMkdir          = 83
	sysRmdir          = 84
	sysCreat          = 85
	sysLink           = 86
	sysUnlink         = 87
	sysSymlink        = 88
	sysReadlink       = 89
	sysMknod          = 133
	sysPivotRoot      = 155
	sysChroot         = 161
	sysMount          = 165
	sysGetdents64     = 217
	sysOpenat         = 257
	sysMkdirat        = 258
	sysMknodat        = 259
	sysNewfstatat     = 262
	sysUnlinkat       = 263
	sysRenameat       = 264
	sysLinkat         = 265
	sysSymlinkat      = 266
	sysReadlinkat     = 267
	sysFaccessat      = 269
	sysProcessVMReadv = 310
	sysRenameat2      = 316
	sysExecveat       = 322
	sysStatx          = 332
)
