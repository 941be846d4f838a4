// Package cgroup reads the limits of this process's control groups: what they leave, and
// whether they refused something. Each function takes the path of /proc, so that tests can
// provide their own. A limit that cannot be read counts as no limit.
//
// The package must not change a group, nor decide what follows from a limit.
package cgroup

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A groups value lists the control groups through which one controller limits this process.
type groups struct {
	version1 bool
	folders  []string // this process's own group first, then its visible parents
}

// findGroups finds the groups of a controller where they are mounted. Version 1 has several
// hierarchies, some with several controllers. A container may see only a part of a hierarchy.
func findGroups(proc, controller string) (g groups) {
	membership, _ := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	var path string
	path, g.version1 = ownPath(string(membership), controller)
	if path == "" || strings.HasPrefix(path+"/", "/../") { // outside of the part that this container sees
		return g
	}
	for line := range strings.Lines(string(mounts)) {
		root, point, ok := parseMount(line, controller, g.version1)
		if !ok {
			continue
		}
		below, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
		if !ok || below != "" && below[0] != '/' {
			continue // the mount belongs to another container
		}
		top := filepath.Clean(point)
		for at := filepath.Join(top, below); ; at = filepath.Dir(at) {
			g.folders = append(g.folders, at)
			if at == top {
				return g
			}
		}
	}
	return g
}

// ownPath returns this process's path in the hierarchy of a controller. Version 1 takes
// precedence where it has the controller.
func ownPath(membership, controller string) (path string, first bool) {
	for line := range strings.Lines(membership) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(fields) < 3:
		case slices.Contains(strings.Split(fields[1], ","), controller):
			return fields[2], true
		case fields[0] == "0":
			path = fields[2]
		}
	}
	return path, false
}

// parseMount parses a line of mountinfo. It returns the root of the mount within its hierarchy
// and the mount point. ok reports whether the mount has the controller.
func parseMount(line, controller string, first bool) (root, point string, ok bool) {
	before, after, _ := strings.Cut(line, " - ")
	at, what := strings.Fields(before), strings.Fields(after)
	if len(at) < 5 || len(what) < 3 {
		return "", "", false
	}
	if first {
		ok = what[0] == "cgroup" && slices.Contains(strings.Split(what[2], ","), controller)
	} else {
		ok = what[0] == "cgroup2"
	}
	escapes := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	return escapes.Replace(at[3]), escapes.Replace(at[4]), ok
}

// Unlimited is returned when no limit applies.
const Unlimited = math.MaxInt64

// ProcessesLeft returns how many more processes and threads this process's groups allow.
func ProcessesLeft(proc string) int64 {
	left := int64(Unlimited)
	for _, dir := range findGroups(proc, "pids").folders {
		if more, ok := remaining(dir+"/pids.max", dir+"/pids.current"); ok {
			left = min(left, max(0, more))
		}
	}
	return left
}

// MemoryLeft returns how many more bytes of memory this process's groups allow. Page cache of
// files on disk counts as free, because the kernel can reclaim it.
func MemoryLeft(proc string) int64 {
	g := findGroups(proc, "memory")
	limit, usage := "/memory.max", "/memory.current"
	if g.version1 {
		limit, usage = "/memory.limit_in_bytes", "/memory.usage_in_bytes"
	}
	left := int64(Unlimited)
	for _, dir := range g.folders {
		if more, ok := remaining(dir+limit, dir+usage); ok {
			left = min(left, max(0, more+reclaimable(dir+"/memory.stat")))
		}
	}
	return left
}

// remaining returns limit minus usage, and whether both files hold a number.
func remaining(limit, usage string) (int64, bool) {
	most, ok1 := readNumber(limit)
	used, ok2 := readNumber(usage)
	return most - used, ok1 && ok2
}

// reclaimable returns how much page cache of files on disk a control group holds.
func reclaimable(stat string) (bytes int64) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		// In version 1 the total includes the child groups, as the usage does.
		if _, err := fmt.Sscanf(line, "total_inactive_file %d", &bytes); err == nil {
			return bytes
		}
		_, _ = fmt.Sscanf(line, "inactive_file %d", &bytes)
	}
	return bytes
}

// readNumber reads a file that holds one number. It returns false for any word, such as "max".
func readNumber(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// ProcessorsQuota returns the processor time that all groups of this process allow, in processors, such as 1.5.
// It is infinite without a quota. Go's runtime takes the quota of the process's own group into
// account, but not those of its parents, and not quotas below 2.
func ProcessorsQuota(proc string) float64 {
	g := findGroups(proc, "cpu")
	quota := math.Inf(1)
	for _, dir := range g.folders {
		text, _ := os.ReadFile(dir + "/cpu.max")
		if g.version1 {
			most, _ := os.ReadFile(dir + "/cpu.cfs_quota_us")
			period, _ := os.ReadFile(dir + "/cpu.cfs_period_us")
			text = append(append(most, ' '), period...)
		}
		quota = min(quota, parseQuota(string(text)))
	}
	return quota
}

// parseQuota parses the time allowed in a period, and the period. Any word, such as "max", and
// a number below 0 mean that there is no quota.
func parseQuota(text string) float64 {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return math.Inf(1)
	}
	most, err1 := strconv.ParseFloat(fields[0], 64)
	period, err2 := strconv.ParseFloat(fields[1], 64)
	if err1 != nil || err2 != nil || !(most > 0) || !(period > 0) {
		return math.Inf(1)
	}
	return most / period
}

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
