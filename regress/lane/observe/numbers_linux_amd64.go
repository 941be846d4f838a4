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
	sysCreat          = 85
	sysReadlink       = 89
	sysPivotRoot      = 155
	sysChroot         = 161
	sysMount          = 165
	sysGetdents64     = 217
	sysOpenat         = 257
	sysNewfstatat     = 262
	sysReadlinkat     = 267
	sysFaccessat      = 269
	sysProcessVMReadv = 310
	sysExecveat       = 322
	sysStatx          = 332
)
