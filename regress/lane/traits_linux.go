package lane

import (
	"bytes"
	"syscall"
	"unsafe"
)

// traits are what a process inherits from its parent and what others may change
// in that: root, and every process of the same user. A case that does so to its
// helper would do it to all cases after it.
type traits struct {
	own  ownTraits
	told [len(traitFiles)]told
}

// ownTraits are those that a system call tells.
type ownTraits struct {
	affinity [128]uint64 // for 8192 CPUs
	policy   uintptr
	priority int32 // of a real-time policy
	nice     uintptr
	io       uintptr
	slack    uintptr // of timers
	limits   [limitCount]limits
}

// limits are struct rlimit64 of prlimit(2).
type limits struct{ soft, hard uint64 }

const limitCount = 16 // RLIM_NLIMITS

// traitFiles tell what no system call does. They are opened once: to read one
// then is as cheap as any call.
var traitFiles = [...]string{"oom_score_adj", "autogroup", "cgroup"}

// told is the start of such a file.
type told struct {
	length uintptr
	text   [2048]byte
}

// heredity watches over the helper's own traits.
type heredity struct {
	files [len(traitFiles)]int // descriptors
	first traits
	now   traits
}

// begin notes the traits of a helper that has seen no case.
func (h *heredity) begin() {
	for i, name := range traitFiles {
		fd, err := syscall.Open("/proc/self/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			fd = -1 // this kernel has no such trait
		}
		h.files[i] = fd
	}
	h.first.read(&h.files)
}

// changed reports whether a case changed something.
func (h *heredity) changed() bool {
	h.now.read(&h.files)
	return !h.now.same(&h.first)
}

func (t *traits) same(u *traits) bool {
	if t.own != u.own {
		return false
	}
	for i := range t.told {
		if !bytes.Equal(t.told[i].bytes(), u.told[i].bytes()) {
			return false
		}
	}
	return true
}

func (t *told) bytes() []byte {
	if t.length > uintptr(len(t.text)) {
		return nil // an error's number, as it was at first
	}
	return t.text[:t.length]
}

// read asks the kernel, 25 times in some 4 µs. Where it has no answer, it has none
// each time. Threads have traits of their own; this one is that which starts the
// commands, and which the number of a process stands for.
func (t *traits) read(files *[len(traitFiles)]int) {
	t.own.read()
	for i, fd := range files {
		f := &t.told[i]
		f.length, _, _ = syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&f.text)), unsafe.Sizeof(f.text), 0, 0, 0)
	}
}

func (t *ownTraits) read() {
	const (
		ofProcess     = 1  // IOPRIO_WHO_PROCESS
		getTimerSlack = 30 // PR_GET_TIMERSLACK
	)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(t.affinity), uintptr(unsafe.Pointer(&t.affinity)))
	t.policy, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_GETPARAM, 0, uintptr(unsafe.Pointer(&t.priority)), 0)
	t.nice, _, _ = syscall.RawSyscall(syscall.SYS_GETPRIORITY, syscall.PRIO_PROCESS, 0, 0)
	t.io, _, _ = syscall.RawSyscall(syscall.SYS_IOPRIO_GET, ofProcess, 0, 0)
	t.slack, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, getTimerSlack, 0, 0)
	for i := range uintptr(limitCount) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, i, 0, uintptr(unsafe.Pointer(&t.limits[i])), 0, 0)
	}
}
