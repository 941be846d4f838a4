package lane

import (
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"muster/regress/lane/scan"
)

// mounts finds file systems that are mounted below the lane's folder. Removing files there by
// name would remove those of another folder, perhaps of another machine. No case may mount in
// a lane. But a set-user-ID program may do so for it (fusermount), and so may a person who
// inspects the lane.
type mounts struct {
	folders      []string // none is below another
	own          []string // what the lane itself has mounted there
	fd           int      // /proc/self/mountinfo, or -1
	tableChanged bool     // since the last unmountAll
}

const mountInfo = "/proc/self/mountinfo"

// watch watches the lane's folder and its own /tmp, as far as cases see them.
func (m *mounts) watch(s *Setup) {
	m.folders = []string{s.Root}
	if s.Canonical != "" {
		m.folders = append(m.folders, s.covered())
		if scan.HasPrefix(s.Root, s.covered()+"/") {
			m.folders = m.folders[1:]
		}
	}
	fd, err := syscall.Open(mountInfo, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	m.fd = fd
	m.changed() // the mounts so far belong there
	m.own = pointsBelow(m.folders...)
	m.tableChanged = false
}

// changed reports whether anything was mounted or unmounted since the last unmountAll.
func (m *mounts) changed() bool {
	const urgent, failed = 2, 8 // POLLPRI, POLLERR: this one file reports a change by both, once
	fds := [1]pollFD{{fd: int32(m.fd), events: urgent}}
	if poll(fds[:], 0) != nil || fds[0].revents&(urgent|failed) != 0 {
		m.tableChanged = true
	}
	return m.tableChanged
}

// foreign lists the mount points that are not the lane's own. Those of the lane come first in the table.
func (m *mounts) foreign() []string {
	own := slices.Clone(m.own)
	return slices.DeleteFunc(pointsBelow(m.folders...), func(at string) bool {
		i := slices.Index(own, at)
		if i >= 0 {
			own = slices.Delete(own, i, i+1)
		}
		return i >= 0
	})
}

// anyMounted reports whether something is mounted in the lane.
func (m *mounts) anyMounted() bool { return m.changed() && len(m.foreign()) > 0 }

// unmountAll detaches everything that is mounted in the lane. If it fails, nothing there may
// be touched.
func (m *mounts) unmountAll() error {
	if !m.changed() {
		return nil
	}
	m.tableChanged = false
	return detach(m.foreign())
}

// Detach detaches everything that is mounted on a folder and below it, and touches none of its
// files. Without the permission, the error names the mount point.
func Detach(dir string) error { return detach(pointsBelow(dir)) }

func detach(points []string) error {
	// Inner and upper ones come later in the table.
	for i := len(points) - 1; i >= 0; i-- {
		const lazy, noFollow = syscall.MNT_DETACH, 8 // UMOUNT_NOFOLLOW
		if err := syscall.Unmount(points[i], lazy|noFollow); err != nil {
			return fail("take away what is mounted at", points[i], err)
		}
	}
	return nil
}

// pointsBelow lists the mount points at some folders and below them.
func pointsBelow(dirs ...string) (points []string) {
	var space []byte
	table, err := readWhole(mountInfo, &space)
	if err != nil {
		return nil // no /proc
	}
	for _, at := range mountPoints(table) {
		if slices.ContainsFunc(dirs, func(dir string) bool { return at == dir || scan.HasPrefix(at, dir+"/") }) {
			points = append(points, at)
		}
	}
	return points
}

// mountPoints returns the fifth field of each line, proc_pid_mountinfo(5): the mount points,
// in the order of mounting.
func mountPoints(table []byte) (points []string) {
	field, begin := 1, 0
	for i, c := range table {
		switch {
		case c == '\n':
			field, begin = 1, i+1
		case c == ' ':
			if field == 5 {
				points = append(points, unescape(table[begin:i]))
			}
			field, begin = field+1, i+1
		}
	}
	return points
}

// unescape decodes spaces, tabs, line feeds and backslashes, which the kernel writes as \ and
// three octal digits.
func unescape(field []byte) string {
	plain := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c == '\\' && i+3 < len(field) {
			c = (field[i+1]-'0')<<6 | (field[i+2]-'0')<<3 | (field[i+3] - '0')
			i += 3
		}
		plain = append(plain, c)
	}
	return string(plain)
}

// hideFolder mounts an empty folder over one, in this process's mount namespace. A case that
// removes everything it finds (rm -rf /dev/shm/*) would otherwise end other cases, or write
// their outputs. Paths relative to a working folder that was entered before stay valid. If the
// kernel refuses, cases run all the same.
func hideFolder(dir string) {
	const flags = syscall.MS_RDONLY | syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	_ = syscall.Mount("none", dir, "tmpfs", flags, "size=4k,nr_inodes=1,mode=555")
}

// inside lists the folders that belong to the lanes, as cases see them: those around this lane
// exist only while muster runs.
func (s *Setup) inside() []string {
	list := []string{folderOf(s.Root), folderOf(s.Outbox)}
	if s.Canonical != "" {
		list = append(list, s.covered(), folderOf(s.Canonical))
	}
	return list
}

func folderOf(path string) string { return path[:max(0, scan.LastIndex(path, '/'))] }

// relativeTo returns a path below dir as relative to dir.
func relativeTo(dir, path string) string {
	if dir == "" {
		return path
	}
	return path[len(dir)+1:]
}

// ownProc reports whether /proc shows this process's own PID namespace.
func ownProc() bool {
	var buf [32]byte
	n, err := syscall.Readlink("/proc/self", buf[:])
	return err == nil && string(buf[:n]) == strconv.Itoa(syscall.Getpid())
}

// raiseLoopback enables the loopback of this process's network namespace. It is down in a new
// namespace, and a case that connects to a server of its own would fail.
func raiseLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail("bring up", "the loopback", err)
	}
	defer syscall.Close(fd)
	request := struct { // struct ifreq
		name  [16]byte
		flags uint16
		_     [22]byte
	}{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP}
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	return fail("bring up", "the loopback", asError(e))
}

// A case that starts processes without end (a fork bomb) is bounded twice. pid_max is the
// kernel's bound: beyond it a fork fails. The other is the regular look at a running case,
// which ends it (tooManyThreads). Before Linux 6.14, and without namespaces, lanes have only
// the second.

// pidMaxSlack is added for the first 300 numbers, which are not used again, and for the helper's
// threads.
const pidMaxSlack = 512

// setPIDMax sets the largest process number of the lane's PID namespace. Since Linux 6.14 each
// namespace has one, which also bounds its processes and threads. An older kernel's file sets the
// whole machine's number, so setPIDMax asks for the version first.
func setPIDMax(pids bool, processesMax int64) {
	if !pids || syscall.Getpid() != 1 {
		return
	}
	var buf [64]byte
	release, err := readFile("/proc/sys/kernel/osrelease", buf[:])
	if err != nil || !isAtLeast(release, 6, 14) {
		return
	}
	fd, err := syscall.Open("/proc/sys/kernel/pid_max", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return // /proc is the outer one, mostly read-only
	}
	defer syscall.Close(fd)
	// This is more than a case may have. Otherwise its forks could fail before a look ends
	// it, and the outcome would depend on how the tool takes that. It is not much more,
	// because thousands of running processes leave little time for the look. The kernel wants
	// 8 for each CPU at least, and refuses less with EINVAL.
	for most := processesMax + processesMax/2 + pidMaxSlack; most <= 1<<22; most *= 2 {
		if _, err := syscall.Write(fd, strconv.AppendInt(nil, most, 10)); err != syscall.EINVAL {
			return
		}
	}
}

// isAtLeast reports whether a release such as "6.14.2-arch1" is this version or a later one.
func isAtLeast(release []byte, major, minor int) bool {
	first, rest, _ := scan.Cut(release, '.')
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	a, err1 := strconv.Atoi(string(first))
	b, err2 := strconv.Atoi(string(rest[:end]))
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}
