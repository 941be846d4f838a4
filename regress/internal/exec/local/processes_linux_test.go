package local

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress/lane"
)

// newMark is a number that no other process has on its command line.
func newMark() string { return fmt.Sprintf("%d%09d", os.Getpid(), rand.IntN(1e9)) }

// marked lists the processes that have the mark on their command line.
func marked(t *testing.T, mark string) (pids []int) {
	t.Helper()
	for pid, line := range processes(t) {
		if strings.Contains(line, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processes are the command lines of all that run; zombies have none.
func processes(t *testing.T) map[int]string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	lines := map[int]string{}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		must(t, err)
		if line, err := os.ReadFile(dir + "/cmdline"); err == nil && len(line) > 0 {
			lines[pid] = string(line)
		}
	}
	return lines
}

// helpersOf lists the lane helpers of a process.
func helpersOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	for pid, line := range processes(t) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || !strings.HasSuffix(line, "\x00"+lane.Argument+"\x00") {
			continue
		}
		// The name may hold anything; after it come the state and the parent.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if string(fields[1]) == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// helpers lists the helpers of the crew, which is the only one of the process.
func (r *rig) helpers() []int {
	r.Helper()
	return helpersOf(r.T, os.Getpid())
}

// pipe is a named pipe by which cases tell the test that they are under way.
type pipe struct {
	path string
	f    *os.File
}

func newPipe(t *testing.T) *pipe {
	t.Helper()
	path := filepath.Join(shared(t), "pipe")
	must(t, unix.Mkfifo(path, 0o600))
	// For reading and writing, or each writer's end would be the end.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return &pipe{path, f}
}

// await returns the next line that a case writes.
func (p *pipe) await(t *testing.T) string {
	t.Helper()
	must(t, p.f.SetReadDeadline(time.Now().Add(time.Minute)))
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := p.f.Read(b); err != nil {
			t.Fatal(err)
		}
		if b[0] == '\n' {
			return string(line)
		}
		line = append(line, b[0])
	}
}

// awaitEnd waits until a process that is not our child is gone.
func awaitEnd(t *testing.T, fd int) {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000)
		if err == unix.EINTR {
			continue
		}
		must(t, err)
		if n == 0 {
			t.Error("a process is still there")
		}
		return
	}
}

// stop stops a process, and returns when none of its threads runs any more.
func stop(t *testing.T, pid int) {
	t.Helper()
	must(t, unix.Kill(pid, unix.SIGSTOP))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		must(t, err)
		if !slices.ContainsFunc(tasks, runs) {
			return
		}
	}
	t.Errorf("%d has not stopped", pid)
}

// runs reports whether a thread is not stopped, by its file of state.
func runs(file string) bool {
	text, err := os.ReadFile(file)
	_, state, _ := strings.Cut(string(text), ") ") // behind the name
	return err == nil && !strings.HasPrefix(state, "T")
}

// hold returns descriptors of processes, to wait for the end of those that are there yet.
func hold(t *testing.T, pids []int) []int {
	t.Helper()
	var fds []int
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		must(t, err)
		t.Cleanup(func() { unix.Close(fd) })
		fds = append(fds, fd)
	}
	return fds
}
