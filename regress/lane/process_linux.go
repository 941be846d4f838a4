package lane

import (
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// The traits that cases inherit from the helper must not depend on how muster was started.

// resetSignals gives every signal its default effect and blocks none. That removes the Go
// runtime's handlers, and the caller's ignored signals: nohup ignores SIGHUP, and a script's
// "&" SIGINT. It also protects the init of a PID namespace: it never receives signals with
// default effect from processes in there. So no case can end its helper by "kill -1".
func resetSignals() {
	const signalsMax = 64
	var action, mask [16]uintptr // zero: struct sigaction with SIG_DFL; no signal
	for sig := uintptr(1); sig <= signalsMax; sig++ {
		// SIGKILL and SIGSTOP are refused, and need nothing.
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
	const setMask = 2 // SIG_SETMASK
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&mask)), 0, 8, 0, 0)
}

// closeOnExec keeps all descriptors except the three streams out of the cases: the helper's
// own, and those that the caller of muster left open.
func closeOnExec() error {
	const (
		closeRange = 436 // its number on every architecture
		onExec     = 4   // CLOSE_RANGE_CLOEXEC
		all        = 1<<32 - 1
	)
	if _, _, e := syscall.RawSyscall(closeRange, JobsFD, all, onExec); e == 0 {
		return nil
	}
	// The kernel is older than 5.11.
	return eachEntry("/proc/self/fd", func(e entry) error {
		if fd, err := strconv.Atoi(e.name); err == nil && fd >= JobsFD {
			syscall.CloseOnExec(fd)
		}
		return nil
	})
}

// wakeAtParentsEnd asks for SIGCONT when the parent ends. A case in a plain lane can stop this
// process, which would then never see that its socket is closed. The kernel also sends the
// signal when only the parent's thread that started this process ends. A running process
// ignores it.
//
// A parent that has ended already sends no signal. Its end of the socket shows that. getppid
// does not show it in a PID namespace, where it is always 0.
func wakeAtParentsEnd() error {
	const setParentDeathSignal = 1 // PR_SET_PDEATHSIG
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGCONT), 0); e != 0 {
		return fail("ask for", "a signal at the parent's end", e)
	}
	socket := [1]pollFD{{fd: JobsFD}}
	if err := poll(socket[:], 0); err != nil {
		return err
	}
	if socket[0].revents&pollHangUp != 0 {
		return errOrphaned
	}
	return nil
}

// isolateProcess makes the process the head of a session without a terminal and without core
// files. It adopts everything that cases leave running.
func isolateProcess() error {
	syscall.Umask(0o022)
	// EPERM: the process is the head of a session already.
	if _, err := syscall.Setsid(); err != nil && err != syscall.EPERM {
		return fail("setsid", "", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fail("limit", "core files", err) // a core file would count as an output
	}
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); e != 0 {
		return fail("become", "subreaper", e)
	}
	return nil
}

// withheldCapabilities are the capabilities that no case gets, not even root's. With the first
// three a case could mount over its lane's folders, or make files that nobody can remove. It
// could also do both through this process, which keeps them. The others reach beyond every
// namespace: modules, IO ports, reboot, the clock. No compiler needs one to work on files.
//
// Cases keep other capabilities, because tests use them and their effects end with the case:
// raising limits (CAP_SYS_RESOURCE), other users' files, priorities, devices and networks.
var withheldCapabilities = [...]uintptr{
	21, // CAP_SYS_ADMIN
	9,  // CAP_LINUX_IMMUTABLE
	19, // CAP_SYS_PTRACE; a process may trace its own children without it
	16, // CAP_SYS_MODULE
	17, // CAP_SYS_RAWIO
	22, // CAP_SYS_BOOT
	25, // CAP_SYS_TIME
}

// dropCapabilities drops the capabilities that no case may inherit. Without the ambient and
// the inheritable set no capability of this process survives exec. Root's cases are the
// exception: they get the bounding set.
func dropCapabilities() error {
	const (
		ambient      = 47 // PR_CAP_AMBIENT
		clearAll     = 4  // PR_CAP_AMBIENT_CLEAR_ALL
		dropBounding = 24 // PR_CAPBSET_DROP
	)
	for _, c := range withheldCapabilities {
		// EPERM: an ordinary user, who has none to pass on, or a container without
		// CAP_SETPCAP. EINVAL: the kernel does not know the capability.
		_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, dropBounding, c, 0)
		if e != 0 && e != syscall.EPERM && e != syscall.EINVAL {
			return fail("drop", "capabilities", e)
		}
	}
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, ambient, clearAll, 0, 0, 0, 0)
	if e != 0 && e != syscall.EINVAL { // EINVAL: the kernel has no ambient capabilities
		return fail("drop", "ambient capabilities", e)
	}
	var (
		header = struct{ version, pid uint32 }{version: 0x20080522}
		sets   [2]struct{ effective, permitted, inheritable uint32 }
	)
	_, _, e = syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0)
	if e == 0 {
		sets[0].inheritable, sets[1].inheritable = 0, 0
		_, _, e = syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0)
	}
	if e != 0 {
		return fail("drop", "inheritable capabilities", e)
	}
	return nil
}

// ownCPU returns the CPU time of this process itself since it began.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return cpuTime(&u)
}

func cpuTime(u *syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
