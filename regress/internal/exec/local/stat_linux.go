package local

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// process is one line of /proc/PID/stat, or of a thread's stat. Other files there contain
// more, but reading them waits for a process that is stuck in its memory.
type process struct {
	pid, parent int
	command     string
	state       byte
	times       string // user and system CPU
	born        string // start time: a later process may have the same number
}

func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }

// stopped reports whether a signal has stopped the process. A debugger's stop does not count.
func (p process) stopped() bool { return p.state == 'T' }

// descendants lists the processes below another, zombies included.
func descendants(top int) (found []process) {
	all := readProcesses()
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		if p := all[pid]; pid != top && isBelow(all, p, top) {
			found = append(found, p)
		}
	}
	return found
}

// livingBelow lists the descendants that have not ended.
func livingBelow(top int) []process {
	return slices.DeleteFunc(descendants(top), process.ended)
}

func isBelow(all map[int]process, p process, top int) bool {
	for range len(all) { // parents may have changed while the processes were read
		if p.pid == top {
			return true
		}
		p = all[p.parent]
	}
	return false
}

// readProcesses reads the state of all processes, by number.
func readProcesses() map[int]process {
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil {
			if p, ok := parseStat(line); ok {
				all[p.pid] = p
			}
		}
	}
	return all
}

// readProcess reads the state of one process.
func readProcess(pid int) (p process, ok bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	return parseStat(line)
}

// parseStat parses a number, a name in brackets that may contain any bytes, a state, the
// parent's number, and the times after that (proc_pid_stat(5)).
func parseStat(line []byte) (process, bool) {
	const state, parent, user, system, born = 0, 1, 11, 12, 19
	from, to := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if from < 0 || to < from {
		return process{}, false
	}
	fields := bytes.Fields(line[to+1:])
	if len(fields) <= born {
		return process{}, false
	}
	p := process{
		command: string(line[from+1 : to]),
		state:   fields[state][0],
		times:   string(fields[user]) + " " + string(fields[system]),
		born:    string(fields[born]),
	}
	var err1, err2 error
	p.pid, err1 = strconv.Atoi(string(bytes.TrimSpace(line[:from])))
	p.parent, err2 = strconv.Atoi(string(fields[parent]))
	return p, err1 == nil && err2 == nil
}
