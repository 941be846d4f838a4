package lane

import (
	"runtime"
	"syscall"
	"unsafe"
)

// schedAttr is struct sched_attr of sched_setattr(2), in its first form.
type schedAttr struct {
	size     uint32
	policy   uint32
	flags    uint64
	nice     int32
	priority uint32
	runtime  uint64 // the time slice of ordinary policies, in ns; 0 = the default
	deadline uint64
	period   uint64
}

// sliceMin is the shortest time slice that Linux gives, in ns.
const sliceMin = 100_000

// requestShortSlice requests short time slices for this thread, as everybody may since Linux
// 6.12: a thread with shorter slices gets them sooner. Otherwise a look at a fork bomb comes
// 300 to 500 ms late, after the turns of a thousand processes. The bomb has grown to pid_max
// by then. Once in ten times too little of it is left for a verdict. With short slices the
// look is mostly in time.
//
// Cases do not inherit the slice, nor a slice or bounds of the processor's speed (uclamp) that
// somebody gave muster. A higher priority as well, which root might take, made cases of 1 KB 4
// % slower.
func requestShortSlice() {
	const (
		other, batch = 0, 3 // policies
		resetOnFork  = 1
	)
	set, get := schedCalls()
	if set == 0 {
		return
	}
	var a schedAttr
	if _, _, e := syscall.RawSyscall6(get, 0, uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0, 0, 0); e != 0 {
		return
	}
	if a.policy != other && a.policy != batch || a.nice < 0 {
		return // resetOnFork would keep a real-time policy and lower niceness from cases, too
	}
	a.size = uint32(unsafe.Sizeof(a))
	a.flags |= resetOnFork
	a.runtime = sliceMin
	_, _, _ = syscall.RawSyscall(set, 0, uintptr(unsafe.Pointer(&a)), 0)
}

// schedCalls returns the numbers of sched_setattr and sched_getattr, which package syscall
// does not have; 0 = unknown.
func schedCalls() (set, get uintptr) {
	switch runtime.GOARCH {
	case "amd64":
		return 314, 315
	case "arm64", "riscv64", "loong64":
		return 274, 275
	}
	return 0, 0
}
