package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
	"muster/regress/internal/fault"
)

// processesMax returns how many processes and threads one case may have at a time. It is
// 2,048, the usual limit of a container, or half of what the machine permits this user or
// container. So one case cannot keep muster and the other lanes from starting theirs. It is
// enough for a compiler's driver.
func processesMax() int64 {
	const least = 64
	return max(least, min(usualProcesses, userProcesses()/2, cgroup.ProcessesLeft("/proc")/2))
}

const usualProcesses = 2048

// userProcesses returns how many processes and threads the user may have; root's are not
// bound.
func userProcesses() int64 {
	var limit unix.Rlimit
	if os.Geteuid() == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil {
		return cgroup.Unlimited
	}
	return int64(min(limit.Cur, cgroup.Unlimited))
}

// processLimit returns the limit on processes that cases see. Without a PID namespace, only this limit and the size of
// the machine bound a fork bomb of an ordinary user. Mostly the limit counts all processes of that
// user, so also those of muster and of other lanes. It does not bind root, who is bound only by the limit of a
// container.
func (c *Crew) processLimit() uint64 {
	if os.Geteuid() == 0 {
		return uint64(userLimit(0, usualProcesses))
	}
	return uint64(userLimit(c.countUserThreads(), c.o.processes))
}

// limitStep makes the limit coarse. A case may print the limit, and its output should not
// depend on what else the user runs, now or when the golden was recorded.
const limitStep = 2048

// userLimit returns the limit for a user who has that many threads: the next step beyond them,
// a case's own and those of other lanes. With the usual 2,048 for a case it is 6,144 for all
// users who have fewer than 2,048. A wider step would be the same for more users, and leave a
// fork bomb more room.
func userLimit(threads, processes int64) int64 {
	return ((threads+2*processes)/limitStep + 1) * limitStep
}

// threadsOfOthers counts the threads of a user's other processes. It leaves out this process,
// which may start threads during the count.
func threadsOfOthers(uid int) (sum int64) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	own := strconv.Itoa(os.Getpid())
	for _, name := range names {
		var st syscall.Stat_t
		if name[0] <= '9' && name != own && syscall.Stat("/proc/"+name+"/task", &st) == nil && int(st.Uid) == uid {
			sum += threadCount(&st)
		}
	}
	return sum
}

// ownThreads counts the threads of this process.
func ownThreads() int64 {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return threadCount(&st)
}

// threadCount returns the number of a process's threads. Its task folder contains a folder for
// each.
func threadCount(task *syscall.Stat_t) int64 { return max(1, int64(task.Nlink)-2) }

// errSilent reports a helper that owes an answer for too long.
var errSilent = fmt.Errorf("%w: it gave no answer", errLaneDied)

// await waits for the helper's next message, for the usual time of that message and
// patience.answer more. After an error the helper must be ended.
//
// In a plain lane a case can stop its helper, so await continues the helper at each look. It
// counts looks instead of reading the clock, so that no time passes while muster itself is
// stopped.
func (w *worker) await(usual time.Duration, decode func([]byte) error) error {
	p := &w.crew.o.patience
	for waited := time.Duration(0); ; waited += p.look {
		err := w.link.extendDeadline(p.look)
		if err == nil {
			err = w.link.receive(decode)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if waited >= usual+p.answer {
			return errSilent
		}
		w.wake()
	}
}

// endsWithin waits for the end of a child, and does not reap it. It polls: a blocking wait
// would take a thread, and could not be given up.
func endsWithin(pid int, d time.Duration) bool {
	deadline := time.Now().Add(d)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err == nil && info.Signo != 0 || err == unix.ECHILD {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

// wake continues a stopped helper. A running helper ignores the signal.
func (w *worker) wake() { _ = w.helper.Process.Signal(syscall.SIGCONT) }

// stuckError returns the error for processes that SIGKILL does not end: those of the present
// helper's case, or the helper itself.
func (w *worker) stuckError() error {
	return fault.Environmentf("lane %d is given up: SIGKILL does not end a process of its case; thaw the control group if it is frozen (/proc/PID/cgroup), or bring back or unmount with force the file system that the process waits for (/proc/PID/stack), and run again", w.number)
}

// helperKey is the variable in a helper's environment that names the folder of its lanes.
const helperKey = "MUSTER_LANES="

// endStrays kills the processes that the cases of a lane, or of all lanes below dir, left
// running. It is for lanes without a PID namespace whose helper was killed: there nobody else
// does that. It recognises cases by the HOME or TMPDIR that only they were given. A case that
// starts daemons in another environment keeps them.
//
// It continues the helpers of lanes below dir. A case may have stopped such a helper again
// after its parent ended. A helper that continues ends by itself.
func endStrays(dir string) {
	const patience = 5 * time.Second
	deadline := time.Now().Add(patience)
	for found := true; found && time.Now().Before(deadline); {
		found = false
		processes, _ := filepath.Glob("/proc/[0-9]*")
		for _, proc := range processes {
			pid, err := strconv.Atoi(filepath.Base(proc))
			if err == nil && endStray(pid, proc, dir) {
				found = true
			}
		}
	}
}

// endStray kills a process of a case and continues a helper. It reports whether the process
// was either.
func endStray(pid int, proc, dir string) bool {
	fd, err := unix.PidfdOpen(pid, 0) // so that the signal cannot reach a later process
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	env, err := os.ReadFile(proc + "/environ")
	if err != nil {
		return false
	}
	for key, sig := range map[string]unix.Signal{"HOME=": unix.SIGKILL, "TMPDIR=": unix.SIGKILL, helperKey: unix.SIGCONT} {
		if bytes.HasPrefix(env, []byte(key+dir+"/")) || bytes.Contains(env, []byte("\x00"+key+dir+"/")) {
			return unix.PidfdSendSignal(fd, sig, nil, 0) == nil
		}
	}
	return false
}
