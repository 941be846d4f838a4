package lane

import (
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"muster/regress/lane/scan"
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
func wakeAtParentsEnd() error {
	const setParentDeathSignal = 1 // PR_SET_PDEATHSIG
	_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGCONT), 0)
	return fail("ask for", "a signal at the parent's end", asError(e))
}

// setLimits sets the limits of this process, which its cases inherit. The Go runtime has raised the one on open
// files.
func setLimits(list []Limit) error {
	for i := range list {
		l := &list[i]
		_, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(l.Resource), uintptr(unsafe.Pointer(&[2]uint64{l.Soft, l.Hard})), 0, 0, 0)
		if e != 0 {
			return fail("set", "limit "+strconv.Itoa(l.Resource), e)
		}
	}
	return nil
}

// isolateProcess makes the process the head of a session without a terminal. It adopts everything that cases
// leave running.
func isolateProcess() error {
	syscall.Umask(0o022)
	// EPERM: the process is the head of a session already.
	if _, err := syscall.Setsid(); err != nil && err != syscall.EPERM {
		return fail("setsid", "", err)
	}
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	return fail("become", "subreaper", asError(e))
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
	return fail("drop", "inheritable capabilities", asError(e))
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

// memory watches the helper's own size, which is the floor of what can be measured of its
// cases. The helper's garbage is not collected below 64 MiB (the parent sees to that). One
// collection makes threads and tables that take more room than ten thousand cases leave. A
// helper that has grown is replaced long before. Only one case with very many files gets that
// far.
type memory struct {
	limit int64 // KiB: a helper with more private memory has grown too much
	floor int64 // KiB: the highest peak so far
	cases int
	buf   [4096]byte // for files that are read
}

// shedStartup gives back the memory that the start of the program took. It returns the peak of
// a helper that has run no case.
func (m *memory) shedStartup() int64 {
	runtime.MemProfileRate = 0 // a sample reads tables all over the program
	now := shedMemory(m.buf[:])
	m.floor, m.limit = now.peak, now.private()+warmingMax
	return m.floor
}

const (
	// The first few cases touch all memory that every case touches: more with many headers.
	// The program's text does not count, because a new helper would need it, too. The
	// kernel maps 64 KiB of it around each page in use. Linux 6.18 maps all that its cache
	// has in one piece, perhaps 2 MiB for a page.
	warmCases  = 4    // cases
	warmingMax = 2048 // KiB

	// growthMax bounds a helper's growth after that, in KiB: some 20,000 cases.
	growthMax = 512
)

// measure returns the floor after a case with that number of changed names, and whether the
// helper has grown too much. It takes 25 µs, so it is done seldom once the peak no longer
// moves.
func (m *memory) measure(names int) (floor int64, grown bool) {
	const (
		seldom = 64  // cases
		many   = 100 // names, of some 700 bytes each
	)
	m.cases++
	if m.cases&(m.cases-1) != 0 && m.cases%seldom != 0 && names < many {
		return m.floor, false
	}
	now := readSize(m.buf[:])
	m.floor = max(m.floor, now.peak)
	if m.cases == warmCases && now.private() <= m.limit {
		m.limit = now.private() + growthMax
	}
	return m.floor, now.private() > m.limit
}

// memoryMin is the lowest memory limit that is exact, in bytes. It exceeds the size to which a
// helper may grow, at which a case's peak begins.
const memoryMin = 8 << 20

// peakMax returns the peak, in KiB, that a case may reach under a limit in bytes. A limit
// below memoryMin counts as memoryMin, for every case alike. The helper's peak counts only
// where the helper itself is larger (pages of 64 KiB).
func (m *memory) peakMax(limit, peak int64) int64 {
	// The kernel counts resident pages by CPU and adds them up late. So the peak at which a
	// case begins may exceed the helper's own: by 36 KiB as measured on 2 CPUs, and by 64
	// pages or more in theory.
	const inexact = 1 << 10 // KiB
	if most := max(limit, memoryMin) >> 10; peak <= most {
		return most
	}
	m.floor = max(m.floor, readSize(m.buf[:]).peak) // measure reads it seldom
	return max(limit>>10, memoryMin>>10, m.floor+inexact)
}

// shedMemory gives back resident memory that can be read again. It also resets the peak of
// this process, from which the peaks of its children start. It returns the size after that. No
// step has to succeed, because the floor reports the memory that stays.
func shedMemory(buf []byte) memorySize {
	for _, m := range cleanMappings() {
		const (
			dontNeed   = 4  // MADV_DONTNEED
			noHugePage = 15 // MADV_NOHUGEPAGE
		)
		// Without this advice the kernel maps 2 MiB for a page if its cache has them in one
		// piece. It still maps smaller pieces whole (Linux 6.18), and no call prevents that.
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, noHugePage)
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, dontNeed)
	}
	if fd, err := syscall.Open("/proc/self/clear_refs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		_, _ = syscall.Write(fd, []byte("5")) // reset the peak
		syscall.Close(fd)
	}
	return readSize(buf)
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// cleanMappings lists mappings of files that cannot be written and never were: dropped pages
// come back from the file. The present rights are not enough, because the dynamic linker first
// fills in the tables of a library.
func cleanMappings() (list []mapping) {
	// A mapping leaves no garbage in the helper.
	buf, err := syscall.Mmap(-1, 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil
	}
	text, _ := readFile("/proc/self/smaps", buf)
	var m mapping
	file := false
	for line := range scan.Split(text, '\n') {
		first, rest, _ := scan.Cut(line, ' ')
		switch {
		case !scan.HasSuffix(first, ":"): // from-to rights offset device inode path
			m, file = parseRange(first), scan.Contains(rest, " /") && rest[1] != 'w'
		case file && string(first) == "Anonymous:" && scan.HasSuffix(rest, " 0 kB") && m.end > m.start:
			list = append(list, m)
		}
	}
	_ = syscall.Munmap(buf)
	return list
}

func parseRange(text []byte) mapping {
	from, to, _ := scan.Cut(text, '-')
	start, err1 := strconv.ParseUint(string(from), 16, 64)
	end, err2 := strconv.ParseUint(string(to), 16, 64)
	if err1 != nil || err2 != nil {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end)}
}

// memorySize is the size of this process, in KiB.
type memorySize struct {
	peak int64 // the highest resident size
	file int64 // the resident part that comes from files, in a tmpfs too; it can be read again
}

// private returns the part of the peak that does not come from files.
func (s memorySize) private() int64 { return s.peak - s.file }

// readSize reads the size of this process; 0 = unknown.
func readSize(buf []byte) (s memorySize) {
	var inMemory int64
	text, _ := readFile("/proc/self/status", buf)
	for line := range scan.Split(text, '\n') {
		readKiB(line, "VmHWM:", &s.peak)
		readKiB(line, "RssFile:", &s.file)
		readKiB(line, "RssShmem:", &inMemory)
	}
	s.file += inMemory
	return s
}

func readKiB(line []byte, key string, kib *int64) {
	if rest, ok := scan.CutPrefix(line, key); ok {
		for number := range scan.Fields(rest) {
			*kib, _ = strconv.ParseInt(string(number), 10, 64)
			break
		}
	}
}
