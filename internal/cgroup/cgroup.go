// Package cgroup reads the limits of this process's control groups: what they leave, and
// whether they refused something. Each function takes the path of /proc, so that tests can
// provide their own. A limit that cannot be read counts as no limit.
//
// The package must not change a group, nor decide what follows from a limit.
package cgroup

import (
	"os"
	"path/filepath"
	"slices"
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
