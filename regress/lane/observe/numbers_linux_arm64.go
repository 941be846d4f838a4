//go:build !purego

package observe

const auditArch = 0xc00000b7 // AUDIT_ARCH_AARCH64

// SysSeccomp is the number of seccomp(2).
const SysSeccomp = 277

// Numbers of system calls that package syscall lacks on one of the architectures, from
// asm-generic/unistd.h. The older calls are missing here.
const (
	sysNewfstatat     = 79
	sysSendmmsg       = 269
	sysNameToHandleAt = 264
	sysSetns          = 268
	sysProcessVMReadv = 270
	sysRenameat2      = 276
	sysExecveat       = 281
	sysStatx          = 291

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

	sysChmod     = missing
	sysChown     = missing
	sysLchown    = missing
	sysUtime     = missing
	sysUtimes    = missing
	sysFutimesat = missing
)
