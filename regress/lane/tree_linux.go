package lane

import (
	"errors"
	"slices"
	"strconv"
	"syscall"
	"time"

	"muster/regress/lane/fork"
	"muster/regress/lane/scan"
)

// tree holds the running case's processes: the command, its descendants, and those that this
// process adopted when their parents ended.
type tree struct {
	pids    bool         // this process is the init of a PID namespace: all others in it are the case's
	ownProc bool         // /proc shows that namespace
	server  *fork.Server // it stays from case to case

	pid          int // of the command
	commandEnded bool
	status       syscall.WaitStatus // when over
	isEmpty      bool               // nothing of the case is left
	reaped       int                // processes
	cpu          time.Duration
	peak         int64     // KiB
	lastProgress time.Time // when SIGKILL was first sent, or a process ended after that
	lastSent     time.Time // when SIGKILL was last sent to all
	list         []byte    // memory for lists of children, reused
}

func (t *tree) reset(pid int) {
	*t = tree{pids: t.pids, ownProc: t.ownProc, server: t.server, pid: pid, list: t.list}
}

// reap reaps all processes that have ended.
func (t *tree) reap() error { return t.reapFrom(syscall.WNOHANG) }

// await waits until a process ends or a signal comes. Then it reaps all processes that have ended.
func (t *tree) await() error { return t.reapFrom(0) }

// reapFrom reaps all processes that have ended. options are those of the first wait4, which may block.
func (t *tree) reapFrom(options uintptr) error {
	var usage syscall.Rusage
	for ; ; options = syscall.WNOHANG {
		got, status, err := wait4(options, &usage)
		switch {
		case err == syscall.EINTR && options == 0:
			return nil
		case err == syscall.EINTR:
			continue
		case err == syscall.ECHILD:
			t.isEmpty = true
			return nil
		case err != nil:
			return fail("wait for", "the command", err)
		case got == 0:
			t.isEmpty = t.isEmpty || t.commandEnded && onlyServerLeft(t)
			return nil
		case status.Stopped(): // only a traced child
			untrace(got, status.StopSignal())
			continue
		case t.server.HasEnded(got):
			continue
		case got == t.pid:
			t.commandEnded, t.status = true, status
		}
		if !t.lastProgress.IsZero() {
			t.lastProgress = time.Now()
		}
		t.reaped++
		t.cpu += cpuTime(&usage)
		t.peak = max(t.peak, int64(usage.Maxrss))
	}
}

// onlyServerLeft reports whether nothing is left of a case but a fork server. It ends what a fork left.
func onlyServerLeft(t *tree) bool {
	if !t.server.IsLinked() || !t.lastProgress.IsZero() { // or the server is about to end, too
		return false
	}
	if !t.server.HasForked() {
		return !slices.ContainsFunc(t.children("/proc/self"), func(pid int) bool { return !t.server.Is(pid) })
	}
	left, ok := t.server.Sweep()
	t.reaped += left.Processes
	t.cpu += left.CPU
	t.peak = max(t.peak, left.Peak)
	return ok
}

// resendAfter is the interval at which SIGKILL is sent again to a whole PID namespace. It
// should not be needed, and thousands of processes take long to end.
const resendAfter = 200 * time.Millisecond

// kill sends SIGKILL. It reports a stuck tree if no process has ended within patience. The
// kernel keeps a process in a frozen control group, in a file system whose server is gone, and
// in a broken driver.
func (t *tree) kill(patience time.Duration) (stuck bool) {
	now := time.Now()
	if t.lastProgress.IsZero() {
		t.lastProgress = now
	}
	switch {
	case !t.pids:
		t.killOneByOne(t.lastProgress.Add(patience))
	case now.Sub(t.lastSent) > resendAfter:
		// This call reaches all others at once: no process escapes by starting another.
		_ = syscall.Kill(-1, syscall.SIGKILL)
		t.lastSent = now
	}
	if now.Sub(t.lastProgress) > patience {
		_ = t.reap() // processes that ended meanwhile; an error comes back at the caller's next reap
	}
	return now.Sub(t.lastProgress) > patience
}

// killOneByOne is kill without a PID namespace. It repeats until it finds no new process: a
// process that was sent SIGKILL starts nothing any more.
func (t *tree) killOneByOne(until time.Time) {
	sent := map[int]bool{} // process numbers, and group numbers as negative ones
	for found := true; found && time.Now().Before(until); {
		found = false
		t.signalGroups(syscall.SIGKILL, sent)
		t.visit(func(pid int) bool {
			if !sent[pid] {
				sent[pid], found = true, true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return time.Now().Before(until)
		})
	}
}

// signalGroups signals the process groups of this process's children, except those in sent.
// The kernel does that at once, so processes that start others faster than they can be listed
// do not escape. Only a case's processes can be in such a group. Orphans become children of
// this process, so in the end these are all groups.
func (t *tree) signalGroups(sig syscall.Signal, sent map[int]bool) {
	own := syscall.Getpgrp()
	for _, pid := range t.children("/proc/self") {
		// The number stays the child's until it is reaped, even if it is a zombie.
		if group, err := syscall.Getpgid(pid); err == nil && group != own && !sent[-group] {
			sent[-group] = true
			_ = syscall.Kill(-group, sig)
		}
	}
}

// signal signals every process of the tree, once. Without a PID namespace it may miss a
// process that is being started.
func (t *tree) signal(sig syscall.Signal) {
	if t.pids {
		_ = syscall.Kill(-1, sig) // all processes but this one
		return
	}
	t.visit(func(pid int) bool {
		_ = syscall.Kill(pid, sig)
		return true
	})
}

// visit calls do for every process of the tree, as long as do asks for more. It lists the
// children of a process after the call for it.
func (t *tree) visit(do func(pid int) (more bool)) {
	if t.pids && t.ownProc { // all other processes belong to the tree
		_ = eachEntry("/proc", func(e entry) error {
			if pid, err := strconv.Atoi(e.name); err == nil && pid > 1 && !do(pid) {
				return errStop
			}
			return nil
		})
		return
	}
	queue := t.children("/proc/self")
	for i := 0; i < len(queue) && do(queue[i]); i++ {
		queue = append(queue, t.children("/proc/"+strconv.Itoa(queue[i]))...)
	}
}

var errStop = errors.New("enough")

// children lists the direct children of a process, of all its threads.
func (t *tree) children(proc string) (found []int) {
	_ = eachEntry(proc+"/task", func(task entry) error {
		found = t.childrenOf(proc+"/task/"+task.name, found)
		return nil
	})
	return found
}

// childrenOf adds the children of one thread to found.
func (t *tree) childrenOf(thread string, found []int) []int {
	list, err := readWhole(thread+"/children", &t.list)
	if err != nil {
		return found // the thread has ended
	}
	for field := range scan.Fields(list) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// resident adds up the resident memory of the tree, in bytes.
func (t *tree) resident() int64 {
	var sum int64
	page := int64(syscall.Getpagesize())
	t.visit(func(pid int) bool {
		var buf [128]byte
		line, err := readFile("/proc/"+strconv.Itoa(pid)+"/statm", buf[:])
		if err != nil {
			return true
		}
		_, after, _ := scan.Cut(line, ' ') // size resident shared …
		number, _, _ := scan.Cut(after, ' ')
		pages, _ := strconv.ParseInt(string(number), 10, 64)
		sum += pages * page
		return true
	})
	return sum
}

// countThreads counts the tree's processes and threads. It stops above most.
func (t *tree) countThreads(most int64) (sum int64) {
	t.visit(func(pid int) bool {
		sum += threads("/proc/" + strconv.Itoa(pid))
		return sum <= most
	})
	return sum
}

// threadsOfAll returns the number of threads on the machine; 0 = unknown.
func threadsOfAll() int64 {
	var buf [128]byte
	line, err := readFile("/proc/loadavg", buf[:]) // 0.00 0.01 0.05 running/all last
	if err != nil {
		return 0
	}
	_, after, _ := scan.Cut(line, '/')
	number, _, _ := scan.Cut(after, ' ')
	all, _ := strconv.ParseInt(string(number), 10, 64)
	return all
}

// threads returns the number of a process's threads: 1 for a zombie, 0 for a process that is
// gone.
func threads(proc string) int64 {
	var st syscall.Stat_t
	if syscall.Lstat(proc+"/task", &st) != nil {
		return 0
	}
	return max(1, int64(st.Nlink)-2) // the folder holds a folder for each
}
