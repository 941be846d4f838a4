package lane

import (
	"bytes"
	"syscall"
	"unsafe"
)

// traits are the attributes that a process inherits from its parent and that other processes
// may change: root's, and every process of the same user. If a case changed its helper's, all
// later cases would inherit them.
type traits struct {
	values traitValues
	texts  [len(traitFiles)]traitText
}

// traitValues are the traits that a system call returns.
type traitValues struct {
	affinity [128]uint64 // for 8192 CPUs
	policy   uintptr
	priority int32 // of a real-time policy
	nice     uintptr
	io       uintptr
	slack    uintptr // of timers
	limits   [limitCount]limits
}

// limits is struct rlimit64 of prlimit(2).
type limits struct{ soft, hard uint64 }

const limitCount = 16 // RLIM_NLIMITS

// traitFiles hold the traits that no system call returns. They are opened once: reading an
// open file is as cheap as any call.
var traitFiles = [...]string{"oom_score_adj", "autogroup", "cgroup"}

// traitText is the start of such a file.
type traitText struct {
	length uintptr
	text   [2048]byte
}

// traitWatch detects changes of the helper's own traits.
type traitWatch struct {
	files [len(traitFiles)]int // descriptors
	first traits
	now   traits
}

// recordFirst records the traits of a helper that has run no case.
func (h *traitWatch) recordFirst() {
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
func (h *traitWatch) changed() bool {
	h.now.read(&h.files)
	return !h.now.same(&h.first)
}

func (t *traits) same(u *traits) bool {
	if t.values != u.values {
		return false
	}
	for i := range t.texts {
		if !bytes.Equal(t.texts[i].bytes(), u.texts[i].bytes()) {
			return false
		}
	}
	return true
}

func (t *traitText) bytes() []byte {
	if t.length > uintptr(len(t.text)) {
		return nil // the read failed
	}
	return t.text[:t.length]
}

// read asks the kernel 25 times, in some 4 µs. A call that fails does so each time, so it
// makes no difference. Threads have traits of their own: this thread starts the commands, and
// the process number stands for it.
func (t *traits) read(files *[len(traitFiles)]int) {
	t.values.read()
	for i, fd := range files {
		f := &t.texts[i]
		f.length, _, _ = syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&f.text)), unsafe.Sizeof(f.text), 0, 0, 0)
	}
}

func (t *traitValues) read() {
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
