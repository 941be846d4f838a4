package cgroup

import (
	"os"
	"strings"
)

// Refusals tells whether a control group's limit on processes refused one to
// anybody in there. A tool that may start no process fails as if by itself, and
// nothing in what it leaves says so: without this it would be its outcome. Seen and
// Since may be called from several goroutines at once.
//
// What a limit of the user (ulimit -u) refuses is counted nowhere.
type Refusals struct{ counters []*os.File }

// OpenRefusals opens the counters of this process's groups. Where there is none, or
// no limit, nothing is watched.
func OpenRefusals(proc string) *Refusals {
	r := &Refusals{}
	folders := find(proc, "pids").folders
	limited, local := false, false
	for _, dir := range folders {
		if limit, err := os.ReadFile(dir + "/pids.max"); err != nil || strings.TrimSpace(string(limit)) == "max" {
			continue
		}
		limited = true
		// Since Linux 6.10 a group counts what its own limit refused...
		if f, err := os.Open(dir + "/pids.events.local"); err == nil {
			r.counters, local = append(r.counters, f), true
		}
	}
	if limited && !local { // ...and in version 1 and before, what was refused in it.
		if f, err := os.Open(folders[0] + "/pids.events"); err == nil {
			r.counters = append(r.counters, f)
		}
	}
	return r
}

// Seen returns what the counters say, to be given to Since.
func (r *Refusals) Seen() (all string) {
	for _, f := range r.counters {
		var text [64]byte
		n, _ := f.ReadAt(text[:], 0)
		all += string(text[:n])
	}
	return all
}

// Since reports whether a process was refused after before was seen.
func (r *Refusals) Since(before string) bool { return r.Seen() != before }

// Close closes the counters.
func (r *Refusals) Close() {
	for _, f := range r.counters {
		f.Close()
	}
}
