//go:build !purego

package observe

const auditArch = 0xc000003e // AUDIT_ARCH_X86_64

// SysSeccomp is the number of seccomp(2).
const SysSeccomp = 317

// Numbers of system calls that package syscall lacks on one of the architectures, from asm/unistd_64.h.
const (
	sysOpen           = 2
	sysStat           = 4
	sysLstat          = 6
	sysAccess         = 21
	sysSendmmsg       = 307
	sysGetdents       = 78
	sysRename         = 82
	sysMkdir          = 83
	sysRmdir          = 84
	sysCreat          = 85
	sysLink           = 86
	sysUnlink         = 87
	sysSymlink        = 88
	sysReadlink       = 89
	sysChmod          = 90
	sysChown          = 92
	sysLchown         = 94
	sysUtime          = 132
	sysMknod          = 133
	sysUtimes         = 235
	sysFutimesat      = 261
	sysNewfstatat     = 262
	sysNameToHandleAt = 303
	sysSetns          = 308
	sysProcessVMReadv = 310
	sysRenameat2      = 316
	sysExecveat       = 322
	sysStatx          = 332
)
