package regress

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/fault"
)

// refusals tells whether a control group's limit on processes refused one to
// anybody in there. A tool that may start no process fails as if by itself, and
// nothing in what it leaves says so: without this it would be its outcome.
//
// What a limit of the user (ulimit -u) refuses is counted nowhere.
type refusals struct{ counters []*os.File }

// openRefusals finds the control group of this process by the files of a /proc.
// Where there is none, or no limit, nothing is watched.
func openRefusals(proc string) *refusals {
	r := &refusals{}
	top, path := pidsGroup(proc)
	limited, local := false, false
	for at := path; top != "" && strings.HasPrefix(at, top); at = filepath.Dir(at) {
		if limit, err := os.ReadFile(filepath.Join(at, "pids.max")); err != nil || strings.TrimSpace(string(limit)) == "max" {
			continue
		}
		limited = true
		// Since Linux 6.10 a group counts what its own limit refused...
		if f, err := os.Open(filepath.Join(at, "pids.events.local")); err == nil {
			r.counters, local = append(r.counters, f), true
		}
	}
	if limited && !local { // ...and in version 1 and before, what was refused in it.
		if f, err := os.Open(filepath.Join(path, "pids.events")); err == nil {
			r.counters = append(r.counters, f)
		}
	}
	return r
}

// pidsGroup returns where the control groups that limit processes are mounted,
// and the folder of this process's own.
func pidsGroup(proc string) (top, path string) {
	groups, _ := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	own, kind := ownGroup(string(groups))
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		at, what := strings.Fields(before), strings.Fields(after)
		if len(at) < 5 || len(what) < 3 || what[0] != kind || kind == "cgroup" && !slices.Contains(strings.Split(what[2], ","), "pids") {
			continue
		}
		below, ok := strings.CutPrefix(own, strings.TrimSuffix(at[3], "/")) // a container may see a part of the tree
		if ok && (below == "" || below[0] == '/') {
			return at[4], filepath.Join(at[4], below)
		}
	}
	return "", ""
}

// ownGroup returns the path in the hierarchy that limits processes, and the type
// of its file system: version 1 where that has the controller.
func ownGroup(groups string) (path, kind string) {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(fields) < 3:
		case slices.Contains(strings.Split(fields[1], ","), "pids"):
			return fields[2], "cgroup"
		case fields[0] == "0":
			path, kind = fields[2], "cgroup2"
		}
	}
	return path, kind
}

// seen returns what the counters say, to be compared.
func (r *refusals) seen() (all string) {
	for _, f := range r.counters {
		var text [64]byte
		n, _ := f.ReadAt(text[:], 0)
		all += string(text[:n])
	}
	return all
}

// since returns an error when a process was refused after before was seen.
func (r *refusals) since(before string) error {
	if r.seen() == before {
		return nil
	}
	return fault.Environmentf("while it ran a process was refused by the limit of the control group (pids.max): raise it, or use fewer --jobs")
}

func (r *refusals) close() {
	for _, f := range r.counters {
		f.Close()
	}
}
