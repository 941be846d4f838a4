package lane

import (
	"bytes"
	"errors"
	"strconv"
	"syscall"
	"unsafe"
)

// Numbers of prctl(2) and capabilities(7) that package syscall lacks.
const (
	prSetChildSubreaper  = 36
	prCapAmbient         = 47
	prCapAmbientClearAll = 4
	madvDontneed         = 4
)

// helper is the state of one lane between cases. One thread uses it.
type helper struct {
	setup  *Setup
	folder folder
	tree   tree
	stdout capture
	stderr capture
	null   int    // descriptor of /dev/null
	dir    string // the work folder as cases see it
	stored int    // files put into the outbox so far, for their names
	jobs   int    // cases so far

	names, strange []string // what the case touched, see folder.changes
}

// prepare makes the lane ready for its first case.
func prepare(s *Setup) (*helper, error) {
	syscall.Umask(0o022)
	if _, err := syscall.Setsid(); err != nil && err != syscall.EPERM {
		return nil, fail("setsid", "", err) // EPERM: a leader already
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return nil, fail("limit", "core files", err) // a core file would be taken for an output
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); e != 0 {
		return nil, fail("become", "subreaper", e)
	}
	h := &helper{setup: s, dir: s.Root + "/work", tree: tree{pids: s.PIDs}}
	h.folder = folder{root: s.Root, work: s.Root + "/work", outbox: s.Outbox, given: map[string]*placed{}}
	if err := h.folder.lay(s.Given); err != nil {
		return nil, err
	}
	if s.Canonical != "" {
		if err := mount(s.Root, s.Canonical, s.PIDs); err != nil {
			return nil, err
		}
		h.dir = s.Canonical + "/work"
	}
	h.tree.ownProc = ownProc()
	if err := dropAmbient(); err != nil {
		return nil, err
	}
	return h, h.openStreams()
}

func (h *helper) openStreams() (err error) {
	if h.null, err = syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
		return fail("open", "/dev/null", err)
	}
	h.stdout.path, h.stderr.path = h.setup.Outbox+"/stdout", h.setup.Outbox+"/stderr"
	if err := h.stdout.open(); err != nil {
		return err
	}
	return h.stderr.open()
}

// mount shows root at canonical in the mount namespace that the parent made
// for this process, and a /proc of its own where it has its own PIDs.
func mount(root, canonical string, pids bool) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fail("make private", "/", err)
	}
	if err := syscall.Mount(root, canonical, "", syscall.MS_BIND, ""); err != nil {
		return fail("mount", canonical, err)
	}
	var a, b syscall.Stat_t
	if err := syscall.Stat(root, &a); err != nil {
		return fail("stat", root, err)
	}
	if err := syscall.Stat(canonical, &b); err != nil {
		return fail("stat", canonical, err)
	}
	if a.Ino != b.Ino || a.Dev != b.Dev {
		return fail("mount", canonical, errors.New("something else is there"))
	}
	if pids {
		// Refused where parts of the outer /proc are masked, as in most
		// containers; only tools that look themselves up there would notice.
		_ = syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	}
	return nil
}

// ownProc reports whether /proc shows this process's own PID namespace.
func ownProc() bool {
	var buf [32]byte
	n, err := syscall.Readlink("/proc/self", buf[:])
	return err == nil && string(buf[:n]) == strconv.Itoa(syscall.Getpid())
}

// dropAmbient takes away the capability that was needed to mount, so that no
// case inherits it. Permitted capabilities do not survive exec without it,
// except root's.
func dropAmbient() error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, prCapAmbient, prCapAmbientClearAll, 0, 0, 0, 0)
	if e != 0 && e != syscall.EINVAL { // EINVAL: a kernel without ambient capabilities
		return fail("drop", "capabilities", e)
	}
	return nil
}

// shed gives back the resident pages of the program's own text and resets the
// high-water mark of this process, from which the peak memory of its children
// starts. It returns that mark in KiB. Every step is best effort: what is left
// is told as the floor.
func shed() int64 {
	var maps [8192]byte
	if n, err := readFile("/proc/self/maps", maps[:]); err == nil {
		for line := range bytes.Lines(maps[:n]) {
			if start, length, ok := ownText(line); ok {
				syscall.RawSyscall(syscall.SYS_MADVISE, start, length, madvDontneed)
			}
		}
	}
	if fd, err := syscall.Open("/proc/self/clear_refs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		syscall.Write(fd, []byte("5"))
		syscall.Close(fd)
	}
	return highWater()
}

// ownText parses a line of /proc/self/maps and picks read-only mappings of
// files.
func ownText(line []byte) (start, length uintptr, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 6 || fields[5][0] != '/' || fields[1][1] == 'w' {
		return 0, 0, false
	}
	from, to, _ := bytes.Cut(fields[0], []byte("-"))
	a, err1 := strconv.ParseUint(string(from), 16, 64)
	b, err2 := strconv.ParseUint(string(to), 16, 64)
	if err1 != nil || err2 != nil || b <= a {
		return 0, 0, false
	}
	return uintptr(a), uintptr(b - a), true
}

// highWater reads VmHWM in KiB, 0 when it cannot be told.
func highWater() int64 {
	var buf [4096]byte
	n, err := readFile("/proc/self/status", buf[:])
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(buf[:n], []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib
}

// readFile reads the start of a small file into buf.
func readFile(path string, buf []byte) (int, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer syscall.Close(fd)
	total := 0
	for total < len(buf) {
		n, err := syscall.Read(fd, buf[total:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
	return total, nil
}

// pollFD is struct pollfd of poll(2).
type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 1

// poll waits until one of the descriptors is readable or timeout (ns) is over;
// negative waits for ever.
func poll(fds []pollFD, timeout int64) error {
	var ts *syscall.Timespec
	if timeout >= 0 {
		t := syscall.NsecToTimespec(timeout)
		ts = &t
	}
	_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(fds))), uintptr(len(fds)), uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	if e != 0 && e != syscall.EINTR {
		return fail("poll", "", e)
	}
	return nil
}
