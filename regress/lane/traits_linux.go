package lane

import (
	"runtime"
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
		if string(t.texts[i].bytes()) != string(u.texts[i].bytes()) {
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

// keys gives a lane a session keyring of its own (keyrings(7)), which ends with the helper. It
// contains a link to the keyring that this process came with. Keys in that one let people read
// file systems (AFS, encrypted folders), perhaps the one with the corpus or the command. So
// cases still find them.
//
// All that a user runs outside a user namespace shares the keys of the user's keyring. Nobody
// can find out which case, lane or other program put a key there, so such keys stay.
type keys struct {
	own      bool
	given    int32 // the session keyring that this process came with
	contents [2]int32
}

const (
	sessionKeyring = ^uintptr(2) // KEY_SPEC_SESSION_KEYRING, -3
	processKeyring = ^uintptr(1) // KEY_SPEC_PROCESS_KEYRING, -2; no child inherits it
)

// joinKeyring makes the keyring for this thread, which starts the commands. If it fails, cases
// have the caller's keyring. A container may forbid all of it, also to cases. It takes two of
// the 200 keys that an ordinary user may have.
func (k *keys) joinKeyring() {
	const getID, join, link = 0, 1, 8 // KEYCTL_GET_KEYRING_ID, _JOIN_SESSION_KEYRING, _LINK
	given, e := keyctl(getID, sessionKeyring, 0, 0)
	if e != 0 {
		return
	}
	// A keyring that no keyring of this process contains could not be linked later.
	if _, e := keyctl(link, given, processKeyring, 0); e != 0 {
		return
	}
	if _, e := keyctl(join, 0, 0, 0); e != 0 {
		return
	}
	if _, e := keyctl(link, given, sessionKeyring, 0); e == 0 {
		k.own, k.given = true, int32(given)
	}
}

// hasKeys reports whether a case left keys in the session keyring, or revoked it. Then the
// next case needs another helper: they end with this one's keyring. The call takes 0.3 µs.
func (k *keys) hasKeys() bool {
	if !k.own {
		return false
	}
	const read = 11 // KEYCTL_READ
	n, e := keyctl(read, sessionKeyring, uintptr(unsafe.Pointer(&k.contents)), unsafe.Sizeof(k.contents))
	return e != 0 || n != unsafe.Sizeof(k.given) || k.contents[0] != k.given
}

func keyctl(command, a, b, c uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(syscall.SYS_KEYCTL, command, a, b, c, 0, 0)
	return r, e
}

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
