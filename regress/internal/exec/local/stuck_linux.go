package local

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

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
