package local

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// pulse is the part of a thread's state that changes while the thread makes progress. On an
// overloaded machine a thread that waits for a CPU stays in state R, however long it waits.
// A stuck thread is in another state, and neither its CPU time nor its turns change.
type pulse struct {
	state byte
	times string // CPU, in the steps of the kernel's clock
	turns string // CPU and waiting in ns, and how often it ran; empty without CONFIG_SCHED_INFO
}

// progressed reports whether one of the threads runs or waits for a CPU, or whether any
// began, ended, ran or fell asleep between the two looks.
func progressed(before, now map[int]pulse) bool {
	for _, p := range now {
		if p.state == 'R' {
			return true
		}
	}
	return !maps.Equal(before, now)
}

// pulses reads the pulse of each thread of some processes, by thread number.
func readPulses(of ...process) map[int]pulse {
	found := map[int]pulse{}
	for _, p := range of {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", p.pid))
		for _, task := range tasks {
			line, err := os.ReadFile(task + "/stat")
			if err != nil {
				continue
			}
			if thread, ok := parseStat(line); ok && !thread.ended() {
				turns, _ := os.ReadFile(task + "/schedstat")
				found[thread.pid] = pulse{thread.state, thread.times, string(turns)}
			}
		}
	}
	return found
}
