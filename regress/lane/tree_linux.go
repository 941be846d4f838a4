package lane

import (
	"bytes"
	"errors"
	"strconv"
	"syscall"
	"time"
)

// tree is the running case's processes: the command, what it started, and what
// those left behind for this process to adopt.
type tree struct {
	pids    bool // this process is the init of a PID namespace: all others in it are the case's
	ownProc bool // /proc shows that namespace

	pid    int // of the command
	over   bool
	status syscall.WaitStatus // when over
	alone  bool               // nothing of the case is left
	reaped int                // processes
	cpu    time.Duration
	peak   int64     // KiB
	ending time.Time // when SIGKILL was first sent
	killed time.Time // when it last had an effect: a process ended, or waited for a CPU
	sent   time.Time // when SIGKILL was last sent to all
	list   []byte    // space for lists of children, used again
}

func (t *tree) begin(pid int) {
	*t = tree{pids: t.pids, ownProc: t.ownProc, pid: pid, list: t.list}
}

// reap collects everything that has ended.
func (t *tree) reap() error {
	var usage syscall.Rusage
	for {
		got, status, err := wait4(&usage)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.ECHILD:
			t.alone = true
			return nil
		case err != nil:
			return fail("wait for", "the command", err)
		case got == 0:
			return nil
		case got == t.pid:
			t.over, t.status = true, status
		}
		if !t.killed.IsZero() {
			t.killed = time.Now()
		}
		t.reaped++
		t.cpu += cpuTime(&usage)
		t.peak = max(t.peak, int64(usage.Maxrss))
	}
}

// again is when SIGKILL is sent again to all in a PID namespace. It should not be
// needed, and thousands of processes take long to end.
const again = 200 * time.Millisecond

// loadFactor bounds how often kill grants its patience anew to processes that wait for
// a CPU.
const loadFactor = 30

// kill sends SIGKILL, and reports whether none of those that got it has ended for
// as long as patience. The kernel holds on to a process in a frozen control group, in a file
// system whose server is gone, and in a broken driver. A process that waits for a CPU
// is not stuck: it ends when it gets one.
func (t *tree) kill(patience time.Duration) (stuck bool) {
	now := time.Now()
	if t.killed.IsZero() {
		t.ending, t.killed = now, now
	}
	switch {
	case !t.pids:
		t.slay(t.killed.Add(patience))
	case now.Sub(t.sent) > again:
		// To all but ourselves, at once: nobody escapes by starting another.
		_ = syscall.Kill(-1, syscall.SIGKILL)
		t.sent = now
	}
	if now.Sub(t.killed) > patience && now.Sub(t.ending) < loadFactor*patience && t.runnable() {
		t.killed = now
	}
	if now.Sub(t.killed) > patience {
		_ = t.reap() // what ended meanwhile; an error comes back at the caller's next reap
	}
	return now.Sub(t.killed) > patience
}

// runnable reports whether a thread of the tree runs or waits for a CPU.
func (t *tree) runnable() (found bool) {
	t.visit(func(pid int) bool {
		tasks := "/proc/" + strconv.Itoa(pid) + "/task"
		_ = each(tasks, func(task entry) error {
			found = found || stateOf(tasks+"/"+task.name) == 'R'
			return nil
		})
		return !found
	})
	return found
}

// stateOf returns the letter for the state of a process or thread, 0 for one that is gone.
func stateOf(proc string) byte {
	var buf [512]byte
	line, err := readFile(proc+"/stat", buf[:])
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything.
	_, state, _ := bytes.Cut(line[bytes.LastIndexByte(line, ')')+1:], []byte(" "))
	if len(state) == 0 {
		return 0
	}
	return state[0]
}

// slay is kill without a PID namespace: pass after pass, until one finds none that
// is new. What has been sent SIGKILL starts nothing any more.
func (t *tree) slay(until time.Time) {
	sent := map[int]bool{} // to which groups and processes
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

// signalGroups sends to the process groups of our own children but those that it
// was sent to. For the kernel that is at once, and processes that start others
// faster than they are found one by one do not escape. None but a case's processes
// can be in such a group, and with orphans, which become our children, that is all
// groups in the end.
func (t *tree) signalGroups(sig syscall.Signal, sent map[int]bool) {
	own := syscall.Getpgrp()
	for _, pid := range t.children("/proc/self") {
		// The number is the child's, if only as a zombie's, until we reap it.
		if group, err := syscall.Getpgid(pid); err == nil && group != own && !sent[-group] {
			sent[-group] = true
			_ = syscall.Kill(-group, sig)
		}
	}
}

// signal sends to every process of the tree, once. Without a PID namespace one
// that is being started may be missed.
func (t *tree) signal(sig syscall.Signal) {
	if t.pids {
		_ = syscall.Kill(-1, sig) // to all but ourselves
		return
	}
	t.visit(func(pid int) bool {
		_ = syscall.Kill(pid, sig)
		return true
	})
}

// visit calls do for every process of the tree, while that asks for more: for each
// before what it has started is listed.
func (t *tree) visit(do func(pid int) (more bool)) {
	if t.pids && t.ownProc {
		t.visitOthers(do)
		return
	}
	queue := t.children("/proc/self")
	for i := 0; i < len(queue) && do(queue[i]); i++ {
		queue = append(queue, t.children("/proc/"+strconv.Itoa(queue[i]))...)
	}
}

// visitOthers is visit where all processes are the tree's but this one.
func (t *tree) visitOthers(do func(pid int) (more bool)) {
	_ = each("/proc", func(e entry) error {
		if pid, err := strconv.Atoi(e.name); err == nil && pid > 1 && !do(pid) {
			return errEnough
		}
		return nil
	})
}

var errEnough = errors.New("enough")

// children lists the direct children of a process, of all its threads.
func (t *tree) children(proc string) (found []int) {
	if threads(proc) == 1 && proc != "/proc/self" { // mostly
		return t.childrenOf(proc+"/task/"+proc[len("/proc/"):], found)
	}
	_ = each(proc+"/task", func(task entry) error {
		found = t.childrenOf(proc+"/task/"+task.name, found)
		return nil
	})
	return found
}

// childrenOf adds to found the children that one thread has started.
func (t *tree) childrenOf(thread string, found []int) []int {
	list, err := readWhole(thread+"/children", &t.list)
	if err != nil {
		return found // it has ended
	}
	for field := range bytes.FieldsSeq(list) {
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
		if fields := bytes.Fields(line); len(fields) > 1 {
			pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			sum += pages * page
		}
		return true
	})
	return sum
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

// threads is the number of a process's threads: 1 of one that has ended and was not
// waited for, 0 of one that is not there any more.
func threads(proc string) int64 {
	var st syscall.Stat_t
	if syscall.Lstat(proc+"/task", &st) != nil {
		return 0
	}
	return max(1, int64(st.Nlink)-2) // it holds a folder for each
}
