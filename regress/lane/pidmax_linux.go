package lane

import (
	"bytes"
	"strconv"
	"syscall"
)

// A case that starts processes without end (a fork bomb) is bounded twice. pid_max is the
// kernel's bound: beyond it a fork fails. The other is the regular look at a running case,
// which ends it (tooManyThreads). Before Linux 6.14, and without namespaces, lanes have only
// the second.

// pidMax is the largest process number of the lane's PID namespace. Since Linux 6.14 each
// namespace has one, which also bounds its processes and threads: numbers are reused, except
// the first 300. It costs a case nothing.
type pidMax struct {
	fd   int // of pidMaxFile; -1 = the number is the machine's, or no case can change it
	text [16]byte
}

const (
	pidMaxFile = "/proc/sys/kernel/pid_max"

	// pidMaxSlack is added for those first 300 numbers and for the helper's threads.
	pidMaxSlack = 512
)

// set sets the number if the kernel has one for each namespace. An older kernel's file sets
// the whole machine's number, so set asks for the version first.
func (p *pidMax) set(pids bool, processesMax int64) {
	p.fd = -1
	if !pids || syscall.Getpid() != 1 {
		return
	}
	var buf [64]byte
	release, err := readFile("/proc/sys/kernel/osrelease", buf[:])
	if err != nil || !isAtLeast(release, 6, 14) {
		return
	}
	fd, err := syscall.Open(pidMaxFile, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return // /proc is the outer one, mostly read-only
	}
	// This is more than a case may have. Otherwise its forks could fail before a look ends
	// it, and the outcome would depend on how the tool takes that. It is not much more,
	// because thousands of running processes leave little time for the look.
	for most := processesMax + processesMax/2 + pidMaxSlack; ; most *= 2 {
		_, err := syscall.Write(fd, strconv.AppendInt(nil, most, 10))
		if err == nil {
			break
		}
		if err != syscall.EINVAL || // the kernel wants 8 for each CPU at least
			most > 1<<22 {
			syscall.Close(fd)
			return
		}
	}
	if syscall.Geteuid() != 0 {
		syscall.Close(fd) // an ordinary user's case cannot write it
		return
	}
	p.fd, p.text = fd, p.read(fd)
}

func (p *pidMax) read(fd int) (text [16]byte) {
	_, _ = syscall.Pread(fd, text[:], 0)
	return text
}

// changed reports whether a case changed the number, as root's may.
func (p *pidMax) changed() bool { return p.fd >= 0 && p.read(p.fd) != p.text }

// isAtLeast reports whether a release such as "6.14.2-arch1" is this version or a later one.
func isAtLeast(release []byte, major, minor int) bool {
	first, rest, _ := bytes.Cut(release, []byte("."))
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	a, err1 := strconv.Atoi(string(first))
	b, err2 := strconv.Atoi(string(rest[:end]))
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}
