package lane

import (
	"bytes"
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
	cpu    time.Duration
	peak   int64     // KiB
	killed time.Time // when SIGKILL was first sent
}

func (t *tree) begin(pid int) {
	*t = tree{pids: t.pids, ownProc: t.ownProc, pid: pid}
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
		t.cpu += cpuTime(&usage)
		t.peak = max(t.peak, int64(usage.Maxrss))
	}
}

// kill sends SIGKILL, and reports whether what got it patience ago is still
// there. The kernel holds on to a process in a frozen control group, in a file
// system whose server is gone, and in a broken driver.
func (t *tree) kill(patience time.Duration) (stuck bool) {
	t.signal(syscall.SIGKILL)
	if t.killed.IsZero() {
		t.killed = time.Now()
	}
	return time.Since(t.killed) > patience
}

// signal sends to every process of the tree, once. Without a PID namespace one
// that is being started may be missed; kill tries again.
func (t *tree) signal(sig syscall.Signal) {
	if t.pids {
		_ = syscall.Kill(-1, sig) // to all but ourselves
		return
	}
	for _, pid := range t.members() {
		_ = syscall.Kill(pid, sig)
	}
}

// members lists the tree's processes.
func (t *tree) members() []int {
	if t.pids && t.ownProc {
		return t.allButSelf()
	}
	var found []int
	queue := children("/proc/self")
	for len(queue) > 0 {
		pid := queue[0]
		queue = append(queue[1:], children("/proc/"+strconv.Itoa(pid))...)
		found = append(found, pid)
	}
	return found
}

func (t *tree) allButSelf() (found []int) {
	_ = each("/proc", func(e entry) error {
		if pid, err := strconv.Atoi(e.name); err == nil && pid > 1 {
			found = append(found, pid)
		}
		return nil
	})
	return found
}

// children lists the direct children of a process, of all its threads. Of one
// with hundreds of them that is some; who ends them asks again.
func children(proc string) (found []int) {
	_ = each(proc+"/task", func(task entry) error {
		var buf [4096]byte
		list, err := readFile(proc+"/task/"+task.name+"/children", buf[:])
		if err != nil {
			return nil // it has ended
		}
		whole := list[:bytes.LastIndexByte(list, ' ')+1] // half a number is another's
		for field := range bytes.FieldsSeq(whole) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				found = append(found, pid)
			}
		}
		return nil
	})
	return found
}

// resident adds up the resident memory of the tree, in bytes.
func (t *tree) resident() int64 {
	var sum int64
	page := int64(syscall.Getpagesize())
	for _, pid := range t.members() {
		var buf [128]byte
		line, err := readFile("/proc/"+strconv.Itoa(pid)+"/statm", buf[:])
		if err != nil {
			continue
		}
		if fields := bytes.Fields(line); len(fields) > 1 {
			pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			sum += pages * page
		}
	}
	return sum
}
