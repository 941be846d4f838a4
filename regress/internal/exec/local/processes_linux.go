package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
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

var (
	errSilent  = fmt.Errorf("%w: it gave no answer", errLaneDied)
	errStopped = fmt.Errorf("%w: it was stopped again and again", errLaneDied)
)

// await waits for the helper's next message, for the usual time of that message. After that it
// returns errSilent if the helper makes no progress for patience.answer. A helper that makes
// its lane's folder anew, or that waits for a CPU, makes progress and gets patience.load more.
//
// In a plain lane a case can stop its helper. await wakes the helper at each look, up to
// wakesMax times, and then returns errStopped. After any error the helper must be ended.
//
// It counts looks instead of reading the clock, so that no time passes while muster itself is
// stopped.
func (w *worker) await(usual time.Duration, decode func([]byte) error) error {
	p := &w.crew.o.patience
	var waited, idle time.Duration
	var before map[int]pulse
	for wakes := 0; ; waited += p.look {
		err := w.link.extendDeadline(p.look)
		if err == nil {
			err = w.link.receive(decode)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		helper, _ := readProcess(w.helper.Process.Pid)
		switch {
		case helper.stopped() && wakes == wakesMax:
			return errStopped
		case helper.stopped():
			wakes++
			w.wake()
		case waited >= usual:
			now := readPulses(helper)
			if idle += p.look; progressed(before, now) {
				idle = 0
			}
			before = now
			if idle >= p.answer || waited >= usual+p.answer+p.load {
				return errSilent
			}
		}
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

// awaitEnd waits for the end of the helper after its link was closed, or after SIGKILL. It
// gives up after d without progress of the helper and the processes below it. With progress
// it gives up after d and patience.load.
func (w *worker) awaitEnd(d time.Duration) bool {
	const looks = 4 // within d
	pid, deadline := w.helper.Process.Pid, time.Now().Add(d+w.crew.o.patience.load)
	var before map[int]pulse
	for idle := 0; idle < looks && time.Now().Before(deadline); idle++ {
		if endsWithin(pid, d/looks) {
			return true
		}
		top, _ := readProcess(pid)
		if top.stopped() {
			w.killTree() // or the case stops it again
			w.wake()
		}
		now := readPulses(append(descendants(pid), top)...)
		if progressed(before, now) {
			idle = -1
		}
		before = now
	}
	return false
}

// wake continues a stopped helper. A running helper ignores the signal.
func (w *worker) wake() { _ = w.helper.Process.Signal(syscall.SIGCONT) }

// killTree kills all processes that a helper without a PID namespace has started. It returns
// when none of them is alive, or after patience.killed. It must run before the helper
// ends: until then the helper adopts all orphans, so killTree finds them.
func (w *worker) killTree() {
	if !w.plain {
		return // the kernel kills them with the helper
	}
	deadline := time.Now().Add(w.crew.o.patience.killed)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := livingBelow(w.helper.Process.Pid)
		for _, p := range left {
			p.kill()
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(pause)
	}
}

// kill sends SIGKILL to a process. A later process with the same number gets none.
func (p process) kill() {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	switch now, ok := readProcess(p.pid); {
	case !ok || now.born != p.born:
	case err == nil:
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	default: // a kernel before 5.3
		_ = unix.Kill(p.pid, unix.SIGKILL)
	}
}

// livingProcesses lists the processes below the helper, or the helper if it has none.
func (w *worker) livingProcesses() []process {
	pid := w.helper.Process.Pid
	if found := livingBelow(pid); len(found) > 0 {
		return found
	}
	helper, _ := readProcess(pid)
	helper.pid = pid
	return []process{helper}
}

// stuckError returns the error for processes that SIGKILL does not end: those of the present
// helper's case, or the helper itself.
func (w *worker) stuckError() error {
	const shown = 3
	var list []string
	found := w.livingProcesses()
	for _, p := range found[:min(shown, len(found))] {
		list = append(list, fmt.Sprintf("%d (%s)", p.pid, name.Print(p.command)))
	}
	if more := len(found) - shown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return fault.Environmentf("lane %d is given up: SIGKILL does not end process %s; thaw its control group if that is frozen (/proc/PID/cgroup), or bring back or unmount with force the file system that it waits for (/proc/PID/stack), and run again",
		w.number, strings.Join(list, ", "))
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
