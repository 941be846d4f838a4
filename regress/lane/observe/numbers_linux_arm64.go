//go:build !purego

package observe

const auditArch = 0xc00000b7 // AUDIT_ARCH_AARCH64

// SysSeccomp is the number of seccomp(2).
const SysSeccomp = 277

// Numbers of system calls, from asm-generic/unistd.h. The older calls are missing here.
const (
	sysOpen           = missing
	sysStat           = missing
	sysLstat          = missing
	sysAccess         = missing
	sysGetdents       = missing
	sysRename         = missing
	sysMkdir          = missing
	sysRmdir          = missing
	sysCreat          = missing
	sysLink           = missing
	sysUnlink         = missing
	sysSymlink        = missing
	sysReadlink       = missing
	sysMknod          = missing
	sysMknodat        = 33
	sysMkdirat        = 34
	sysUnlinkat       = 35
	sysSymlinkat      = 36
	sysLinkat         = 37
	sysRenameat       = 38
	sysMount          = 40
	sysPivotRoot      = 41
	sysFaccessat      = 48
	sysChroot         = 51
	sysOpenat         = 56
	sysGetdents64     = 61
	sysReadlinkat     = 78
	sysNewfstatat     = 79
	sysConnect        = 203
	sysExecve         = 221
	sysProcessVMReadv = 270
	sysRenameat2      = 276
	sysExecveat       = 281
	sysStatx          = 291

	missing = -1
)
