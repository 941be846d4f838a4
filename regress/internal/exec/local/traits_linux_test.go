package local

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An alteration changes something in a process that its children inherit.
type alteration struct {
	name string
	by   by
	do   func(pid int) error
}

// by is who may do it.
type by int

const (
	byAnybody by = iota
	byEqual      // who has the same user and no fewer capabilities: in a user namespace the helper has some
	byRoot
)

// may reports whether a case of the rig may do it to its helper.
func (r *rig) may(a alteration) bool {
	root, apart := os.Geteuid() == 0, r.crew.mode.name == "user namespace"
	own, _ := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value
	switch {
	case a.name == "affinity" && runtime.NumCPU() == 1, a.name == "nice" && own == 1:
		return false
	case a.by == byRoot:
		return root && !apart
	case a.by == byEqual:
		return root || !apart
	}
	return true
}

// alterations are what a case does to its helper.
func alterations() []alteration {
	const (
		ofProcess  = 1       // IOPRIO_WHO_PROCESS
		bestEffort = 2 << 13 // IOPRIO_CLASS_BE
	)
	limit := func(resource int) func(int) error {
		return func(pid int) error { return unix.Prlimit(pid, resource, &unix.Rlimit{Cur: 77, Max: 99}, nil) }
	}
	write := func(name, text string) func(int) error {
		return func(pid int) error { return os.WriteFile(fmt.Sprintf("/proc/%d/%s", pid, name), []byte(text), 0) }
	}
	return []alteration{
		{"affinity", byEqual, narrow},
		{"nice", byEqual, func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) }},
		{"io", byEqual, func(pid int) error {
			_, _, e := unix.Syscall(unix.SYS_IOPRIO_SET, ofProcess, uintptr(pid), bestEffort|6)
			return because(e)
		}},
		{"batch", byEqual, func(pid int) error {
			return unix.SchedSetAttr(pid, &unix.SchedAttr{
				Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 19, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
			}, 0)
		}},
		{"files", byAnybody, limit(unix.RLIMIT_NOFILE)},
		{"queues", byAnybody, limit(unix.RLIMIT_MSGQUEUE)},
		{"unnice", byRoot, func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, -3) }},
		{"real-time", byRoot, func(pid int) error {
			return unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 3}, 0)
		}},
		{"slack", byRoot, write("timerslack_ns", "123456")},
		{"oom", byRoot, write("oom_score_adj", "321")},
	}
}

// because is no error for the number 0.
func because(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// narrow leaves a process one CPU; of one there was it takes none.
func narrow(pid int) error {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &all); err != nil {
		return err
	}
	for cpu := range 1024 {
		if all.IsSet(cpu) {
			one.Set(cpu)
			return unix.SchedSetaffinity(pid, &one)
		}
	}
	return errors.New("a process without a CPU")
}

// alterTool alters its parent.
func alterTool(args []string) error {
	for _, a := range alterations() {
		if a.name == args[0] {
			return a.do(os.Getppid())
		}
	}
	return errors.New("no such alteration")
}

// traitsTool prints what it has inherited.
func traitsTool([]string) error {
	runtime.LockOSThread()
	var cpus unix.CPUSet
	attr, err := unix.SchedGetAttr(0, 0)
	if err := errors.Join(err, unix.SchedGetaffinity(0, &cpus)); err != nil {
		return err
	}
	fmt.Println(cpus.Count(), attr.Policy, attr.Nice, attr.Priority, attr.Runtime)
	io, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, 0, 0)
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	fmt.Println(io, slack, err)
	for resource := range 16 {
		var l unix.Rlimit
		if err := unix.Prlimit(0, resource, nil, &l); err != nil {
			return err
		}
		fmt.Println(resource, l.Cur, l.Max)
	}
	for _, name := range []string{"oom_score_adj", "cgroup"} {
		text, _ := os.ReadFile("/proc/self/" + name)
		fmt.Print(string(text))
	}
	return nil
}

// TestHelperAltered: what a case does to its helper, no later case inherits, and
// its own verdict stays.
func TestHelperAltered(t *testing.T) {
	inAllModes(t, func(r *rig) {
		before := r.run("one.c", "exec "+self("traits"))
		for _, a := range alterations() {
			if !r.may(a) {
				continue
			}
			started := r.crew.started.Load()
			r.want(r.run("one.c", "exec "+self("alter", a.name)+" 2>&1"), "exit 0")
			if after := r.run("next.c", "exec "+self("traits")); !slices.Equal(after, before) {
				r.Errorf("%s: the next case has\n%s\nand not\n%s", a.name, strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
			if r.crew.started.Load() == started {
				r.Errorf("%s: no new helper; the test shows nothing", a.name)
			}
		}
		r.wantClean("next.c")
	})
}

// TestSlice: a helper has short slices of time, so as to look at a crowd of processes
// in time, and no case has.
func TestSlice(t *testing.T) {
	if !kernelSince(t, 6, 12) {
		needed(t, "before Linux 6.12 all have slices of one length")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := unix.SchedGetAttr(0, 0)
	must(t, err)
	if own.Policy != unix.SCHED_NORMAL || own.Nice < 0 {
		needed(t, "the test has a policy or priority of its own")
	}
	inAllModes(t, func(r *rig) {
		for _, pid := range r.helpers() {
			helpers, err := unix.SchedGetAttr(pid, 0)
			must(r, err)
			if helpers.Runtime >= own.Runtime {
				r.Errorf("a helper has %d ns at a time", helpers.Runtime)
			}
		}
		got := strings.Join(r.run("one.c", self("traits")+" | head -n 1"), " ")
		if want := fmt.Sprint(" ", own.Policy, " ", own.Nice, " 0 ", own.Runtime, `\n`); !strings.Contains(got, want) {
			r.Errorf("a case has %s, want%s", got, want)
		}
	})
}
