package lane

import (
	"bytes"
	"strconv"
	"syscall"
)

// A case that starts processes without end (a fork bomb) is bounded twice. pid_max
// is the kernel's bound: beyond it a fork fails. The other is the look at a running
// case, which ends it (tooManyThreads): all that lanes have before Linux 6.14, or
// without namespaces.

// pidMax is the largest process number of the lane's PID namespace. Since Linux
// 6.14 each has one of its own, and as many processes and threads at most: the
// numbers are given out again, but for the first 300. It costs a case nothing.
type pidMax struct {
	fd   int // of the file that says so; -1 when it is the machine's, or nobody could change it
	text [16]byte
}

const (
	pidMaxFile = "/proc/sys/kernel/pid_max"

	// pidMaxSlack is what it needs beyond what cases may have: those first 300, and
	// the helper's threads.
	pidMaxSlack = 512
)

// set sets the number, if the kernel has one for each namespace. Before, the same
// file was the whole machine's: hence the question for the version.
func (p *pidMax) set(pids bool, processesMax int64) {
	p.fd = -1
	if !pids || syscall.Getpid() != 1 {
		return
	}
	var buf [64]byte
	release, err := readFile("/proc/sys/kernel/osrelease", buf[:])
	if err != nil || !since(release, 6, 14) {
		return
	}
	fd, err := syscall.Open(pidMaxFile, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return // where /proc is the outer one, mostly read-only
	}
	// More than a case may have: else its forks could fail before a look has ended it,
	// and what a tool makes of that would be the outcome. Not much more: thousands
	// that run leave little time for that look.
	for most := processesMax + processesMax/2 + pidMaxSlack; ; most *= 2 {
		_, err := syscall.Write(fd, strconv.AppendInt(nil, most, 10))
		if err == nil {
			break
		}
		if err != syscall.EINVAL || // it wants 8 for each CPU at least
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

// changed reports whether a case moved it, as root's may.
func (p *pidMax) changed() bool { return p.fd >= 0 && p.read(p.fd) != p.text }

// since reports whether a release such as "6.14.2-arch1" is this one or later.
func since(release []byte, major, minor int) bool {
	first, rest, _ := bytes.Cut(release, []byte("."))
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	a, err1 := strconv.Atoi(string(first))
	b, err2 := strconv.Atoi(string(rest[:end]))
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}
