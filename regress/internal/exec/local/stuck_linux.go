package local

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// endsWithin waits for the end of a child and leaves it to be waited for. It
// asks again and again: a wait that blocks would take a thread, and could not be
// given up.
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

// stuck is the error for processes that SIGKILL does not end: those of the
// present helper's case, or the helper itself.
func (w *worker) stuck() error {
	const shown = 3
	var list []string
	found := living(w.helper.Process.Pid)
	for _, p := range found[:min(shown, len(found))] {
		list = append(list, fmt.Sprintf("%d (%s)", p.pid, name.Print(p.command)))
	}
	if more := len(found) - shown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return fault.Environmentf("lane %d is given up: SIGKILL does not end process %s; thaw its control group if that is frozen (/proc/PID/cgroup), or bring back or unmount with force the file system that it waits for (/proc/PID/stack), and run again",
		w.number, strings.Join(list, ", "))
}

// process is one line of /proc/PID/stat. Other files there tell more, and make
// their reader wait for a process that is stuck in its memory.
type process struct {
	pid, parent int
	command     string
	zombie      bool
}

// living lists what a process has started, directly or not, and has not ended;
// or, when there is no such thing, the process itself.
func living(top int) []process {
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil {
			if p, ok := parseStat(line); ok {
				all[p.pid] = p
			}
		}
	}
	var found []process
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		if p := all[pid]; !p.zombie && pid != top && descends(all, p, top) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return []process{{pid: top, command: all[top].command}}
	}
	return found
}

func descends(all map[int]process, p process, top int) bool {
	for range len(all) { // parents may have changed while all were read
		if p.pid == top {
			return true
		}
		p = all[p.parent]
	}
	return false
}

// parseStat reads a number, a name in brackets that may hold anything, a state
// and the parent's number.
func parseStat(line []byte) (process, bool) {
	from, to := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if from < 0 || to < from {
		return process{}, false
	}
	pid, err1 := strconv.Atoi(string(bytes.TrimSpace(line[:from])))
	fields := bytes.Fields(line[to+1:])
	if err1 != nil || len(fields) < 2 {
		return process{}, false
	}
	parent, err2 := strconv.Atoi(string(fields[1]))
	return process{pid, parent, string(line[from+1 : to]), bytes.ContainsAny(fields[0], "ZX")}, err2 == nil
}
