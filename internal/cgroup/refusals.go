package cgroup

import (
	"os"
	"strings"
)

// Refusals detects that a control group's limit on processes refused to start one for any
// process in the group. A tool that may not start a process fails like a faulty tool: nothing
// in its outcome shows the real reason. Several goroutines may call Snapshot and ChangedSince
// at the same time.
//
// Refusals by a user's own limit (ulimit -u) are counted nowhere.
type Refusals struct{ counters []*os.File }

// OpenRefusals opens the counters of this process's groups. Without a counter or a limit, it
// watches nothing.
func OpenRefusals(proc string) *Refusals {
	r := &Refusals{}
	folders := findGroups(proc, "pids").folders
	limited, local := false, false
	for _, dir := range folders {
		if limit, err := os.ReadFile(dir + "/pids.max"); err != nil || strings.TrimSpace(string(limit)) == "max" {
			continue
		}
		limited = true
		// Since Linux 6.10 a group counts the refusals by its own limit.
		if f, err := os.Open(dir + "/pids.events.local"); err == nil {
			r.counters, local = append(r.counters, f), true
		}
	}
	if limited && !local { // Version 1 and older kernels count the refusals within the group.
		if f, err := os.Open(folders[0] + "/pids.events"); err == nil {
			r.counters = append(r.counters, f)
		}
	}
	return r
}

// Snapshot returns the present counters, for ChangedSince.
func (r *Refusals) Snapshot() (all string) {
	for _, f := range r.counters {
		var text [64]byte
		n, _ := f.ReadAt(text[:], 0)
		all += string(text[:n])
	}
	return all
}

// ChangedSince reports whether a process was refused after Snapshot returned before.
func (r *Refusals) ChangedSince(before string) bool { return r.Snapshot() != before }

// Close closes the counters.
func (r *Refusals) Close() {
	for _, f := range r.counters {
		f.Close()
	}
}
