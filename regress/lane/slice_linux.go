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
	runtime  uint64 // of the ordinary policies: the time slice, in ns; 0 = as usual
	deadline uint64
	period   uint64
}

// leastSlice is the shortest time slice that Linux gives.
const leastSlice = 100_000

// askShortSlice asks the kernel for short time slices for this thread, as everybody may
// since Linux 6.12: what asks for less at a time gets it sooner. Without, a look at a
// fork bomb comes 300 to 500 ms late, when a thousand processes have had their turn. The
// bomb has grown to pid_max by then, and once in ten times what is left of it is too
// little for a verdict. With it, it comes in time mostly. Cases do not inherit it, nor
// a slice or bounds of the processor's speed (uclamp) that somebody gave muster. A higher
// priority besides, which root might take, made cases of 1 KB 4 % slower.
func askShortSlice() {
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
		return // a case would not inherit those of real time, and less niceness, either
	}
	a.size = uint32(unsafe.Sizeof(a))
	a.flags |= resetOnFork
	a.runtime = leastSlice
	_, _, _ = syscall.RawSyscall(set, 0, uintptr(unsafe.Pointer(&a)), 0)
}

// schedCalls are the numbers of sched_setattr and sched_getattr, which package syscall
// does not have; 0 where they are not known.
func schedCalls() (set, get uintptr) {
	switch runtime.GOARCH {
	case "amd64":
		return 314, 315
	case "arm64", "riscv64", "loong64":
		return 274, 275
	}
	return 0, 0
}
