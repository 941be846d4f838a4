package lane

import (
	"bytes"
	"strconv"
	"syscall"
	"time"
)

// A case that starts processes without end (a fork bomb) is bounded twice. The
// brake is the kernel's: beyond it a fork fails. The other is the look at a
// running case, which ends it: all that lanes have before Linux 6.14, or without
// namespaces.

// brake is the largest process number of the lane's PID namespace. Since Linux
// 6.14 each has one of its own, and as many processes and threads at most: the
// numbers are given out again, but for the first 300. It costs a case nothing.
type brake struct {
	fd   int // of the file that says so; -1 when there is no brake, or nobody who could change it
	text [16]byte
}

const (
	pidMax = "/proc/sys/kernel/pid_max"

	// brakeSlack is what the brake needs beyond what cases may have: those first
	// 300, and the helper's threads.
	brakeSlack = 512
)

// set sets the brake, if the kernel has one for each namespace. Before, the same
// file was the whole machine's: hence the question for the version.
func (b *brake) set(pids bool, processesMax int64) {
	b.fd = -1
	if !pids || syscall.Getpid() != 1 {
		return
	}
	var buf [64]byte
	release, err := readFile("/proc/sys/kernel/osrelease", buf[:])
	if err != nil || !since(release, 6, 14) {
		return
	}
	fd, err := syscall.Open(pidMax, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return // where /proc is the outer one, mostly read-only
	}
	// More than a case may have: else its forks could fail before a look has ended it,
	// and what a tool makes of that would be the outcome. Not much more: thousands
	// that run leave little time for that look.
	for most := processesMax + processesMax/2 + brakeSlack; ; most *= 2 {
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
	b.fd, b.text = fd, b.read(fd)
}

func (b *brake) read(fd int) (text [16]byte) {
	_, _ = syscall.Pread(fd, text[:], 0)
	return text
}

// changed reports whether a case moved the brake, as root's may.
func (b *brake) changed() bool { return b.fd >= 0 && b.read(b.fd) != b.text }

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

// start starts the command. That the kernel has no process left may be the doing of
// another lane's case, which is about to be ended for it.
func (h *helper) start(job *Job, stdin int) (pid, pidfd int, err error) {
	const patience = 3 * time.Second
	for first := time.Now(); ; {
		h.began, h.crowd = time.Now(), 0
		pid, pidfd, err = h.spawner.start(job.Path, job.Args, stdin, h.stdout.fd, h.stderr.fd)
		if err != syscall.EAGAIN || h.began.Sub(first) > patience {
			return pid, pidfd, err
		}
		if err := h.wait(-1, tick); err != nil {
			return 0, -1, err
		}
	}
}

// suspicious is how many threads a case has that is looked at with care.
const suspicious = 64

// crowded reports whether the case has more processes and threads than it may.
// Mostly the whole machine has not, which one small file tells.
func (h *helper) crowded() bool {
	most, all := h.setup.ProcessesMax, threadsOfAll()
	if h.crowd == 0 {
		h.crowd = all // at the first look
	}
	if all > 0 && all <= most || h.tree.count(suspicious) <= suspicious {
		return false
	}
	// With a PID namespace the brake holds, or one call ends all. Without, it takes
	// time to count thousands that keep starting more, and they leave us little: a
	// case during which the machine's number has grown like that stands still
	// meanwhile.
	stopped := !h.tree.pids && all-h.crowd > most/2
	if stopped {
		h.tree.signalGroups(syscall.SIGSTOP, map[int]bool{})
	}
	over := h.tree.count(most) > most
	if stopped && !over {
		h.tree.signalGroups(syscall.SIGCONT, map[int]bool{})
	}
	return over
}

// count counts the tree's processes and threads, those over most not all.
func (t *tree) count(most int64) (sum int64) {
	t.visit(func(pid int) bool {
		sum += threads("/proc/" + strconv.Itoa(pid))
		return sum <= most
	})
	return sum
}

// threadsOfAll is the number of threads on the machine, 0 when it cannot be told.
func threadsOfAll() int64 {
	var buf [128]byte
	line, err := readFile("/proc/loadavg", buf[:]) // 0.00 0.01 0.05 running/all last
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(line, []byte("/"))
	number, _, _ := bytes.Cut(after, []byte(" "))
	all, _ := strconv.ParseInt(string(number), 10, 64)
	return all
}

// threads is the number of a process's threads, 1 of one that has ended.
func threads(proc string) int64 {
	var st syscall.Stat_t
	if syscall.Lstat(proc+"/task", &st) != nil {
		return 0
	}
	return max(1, int64(st.Nlink)-2) // it holds a folder for each
}
