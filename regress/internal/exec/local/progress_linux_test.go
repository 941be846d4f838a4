package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/lane"
)

// started starts a shell's script, which ends with the test.
func started(t *testing.T, script string) (pid int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// awaitState returns when a process is in that state.
func awaitState(t *testing.T, pid int, state byte) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if p, ok := readProcess(pid); ok && p.state == state {
			return
		}
	}
	t.Fatalf("%d is not in state %c", pid, state)
}

// TestProgressed: a process that runs or waits for a CPU is not stuck. A process that is
// stopped, or waits for something else, is.
func TestProgressed(t *testing.T) {
	look := func(pid int) map[int]pulse { return readPulses(process{pid: pid}) }
	busy := started(t, "while :; do :; done")
	awaitState(t, busy, 'R')
	if !progressed(look(busy), look(busy)) {
		t.Error("a process that runs counts as stuck")
	}
	starve(t, busy)
	if !progressed(look(busy), look(busy)) {
		t.Error("a process that waits for a CPU counts as stuck")
	}
	p := newPipe(t)
	idle := started(t, "read x < "+p.path+"; read x < "+p.path)
	awaitState(t, idle, 'S')
	before := look(idle)
	for deadline := time.Now().Add(time.Minute); progressed(before, look(idle)); before = look(idle) {
		if time.Now().After(deadline) {
			t.Fatal("a process that waits does not count as stuck")
		}
	}
	_, err := p.f.WriteString("\n")
	must(t, err)
	for deadline := time.Now().Add(time.Minute); !progressed(before, look(idle)); {
		if time.Now().After(deadline) {
			t.Fatal("a process that went on counts as stuck")
		}
	}
	stop(t, idle)
	if p, _ := readProcess(idle); !p.stopped() {
		t.Errorf("it is in state %c", p.state)
	}
	if progressed(look(idle), look(idle)) {
		t.Error("a stopped process does not count as stuck")
	}
}

// starve keeps a process from its CPU for seconds at a time, until the test ends. It moves
// the process to a CPU that others use up, and lets it have only what they leave.
func starve(t *testing.T, pid int) {
	t.Helper()
	var all, one unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &all))
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	var others []int
	for range 4 {
		other := started(t, "while :; do :; done")
		must(t, unix.SchedSetaffinity(other, &one))
		others = append(others, other)
	}
	for _, other := range others {
		awaitWork(t, other)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	must(t, err)
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		must(t, err)
		must(t, unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0))
		must(t, unix.SchedSetaffinity(id, &one))
	}
}

// awaitWork returns when a process has had CPU.
func awaitWork(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if p, ok := readProcess(pid); ok && p.times != "0 0" {
			return
		}
	}
	t.Fatalf("%d has had no CPU", pid)
}

// TestHelperNotScheduled: muster does not give up a helper that was killed and waits for a
// CPU to end on. The test has the kernel ignore SIGKILL and the helper use a CPU, which
// looks the same.
func TestHelperNotScheduled(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		if !unkillable(t) {
			return
		}
		o := options(usual(t))
		impatient(&o)
		o.patience.end = o.patience.kill
		o.Helper, o.plain = append(o.Helper, "tool", "busy", "1s"), true
		crew, err := Start(t.Context(), o)
		must(t, err)
		must(t, crew.Close())
	})
}

// TestCaseNotScheduled: nor does the helper give up such a case, which gets its verdict.
func TestCaseNotScheduled(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		if !unkillable(t) {
			return
		}
		r := newRig(t, usual(t), impatient, plainly, func(o *Options) { o.patience.kill = 300 * time.Millisecond })
		r.want(r.run("one.c", "trap '' TERM; "+spin(4)), "timed-out")
		r.wantClean("next.c")
	})
}

// spin is a script that uses a CPU for some seconds. It starts no process: while the shell
// waited for one, it would not run.
func spin(seconds int) string {
	return fmt.Sprintf("now() { read now rest < /proc/uptime; now=${now%%%%.*}; }; now; end=$((now+%d)); while [ $now -lt $end ]; do now; done", seconds)
}

// busyTool is a helper that uses a CPU for some time before each answer to a batch, and
// before its end.
func busyTool(args []string) error {
	length, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	answers := [][]byte{(&lane.Ready{Floor: 1}).AppendFrame(nil), (&lane.Answer{Floor: 1, Code: 3, BatchEnds: true}).AppendFrame(nil)}
	for i, message := 0, make([]byte, 1<<20); ; i = 1 {
		n, err := unix.Read(lane.JobsFD, message)
		if err != nil {
			return err
		}
		for end := time.Now().Add(length); (n == 0 || i > 0) && time.Now().Before(end); {
			continue
		}
		if n == 0 {
			return nil
		}
		if _, err := unix.Write(lane.AnswersFD, answers[i]); err != nil {
			return err
		}
	}
}

// TestAnswerLate: muster waits longer for a helper that makes progress, but not for ever.
func TestAnswerLate(t *testing.T) {
	try := func(length string, load time.Duration) ([]string, error) {
		r := newRig(t, usual(t), plainly, impatient, func(o *Options) {
			o.Helper = append(o.Helper, "tool", "busy", length)
			o.patience.answer, o.patience.end, o.patience.load = o.patience.kill, o.patience.kill, load
			o.patience.killed = time.Minute // it dies when it gets a processor
			o.Timeout, o.patience.look = o.Grace, 20*time.Millisecond
		})
		result, err := r.try("one.c", "exit 0")
		if err != nil {
			return nil, err
		}
		defer result.Release()
		return r.tell(result), nil
	}
	got, err := try("1s", time.Minute)
	if must(t, err); len(got) == 0 || !strings.HasPrefix(got[0], "exit 3") {
		t.Errorf("it gave %q", got)
	}
	if _, err := try("1h", 300*time.Millisecond); regress.ClassOf(err) != regress.Environment || !errors.Is(err, errLaneDied) {
		t.Errorf("without end it gave %v", err)
	}
}
