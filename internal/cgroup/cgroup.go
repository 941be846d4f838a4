// Package cgroup tells what the control groups of this process leave it, and what
// they refused. Every question names a /proc, so that tests can have their own; what
// cannot be told counts as no limit.
//
// It must not change a group, nor decide what follows from a limit.
package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// groups are those that one controller goes by: the folder of this process's own
// group, and of those above it as far as they can be seen, ours first.
type groups struct {
	first   bool // of version 1
	folders []string
}

// find looks for them where they are mounted: version 1 has several hierarchies,
// some with several controllers, and a container may see a part of a tree.
func find(proc, controller string) (g groups) {
	membership, _ := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	var path string
	path, g.first = own(string(membership), controller)
	if path == "" || strings.HasPrefix(path+"/", "/../") { // outside what this container may see
		return g
	}
	for line := range strings.Lines(string(mounts)) {
		root, point, ok := mountOf(line, controller, g.first)
		if !ok {
			continue
		}
		below, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
		if !ok || below != "" && below[0] != '/' {
			continue // another container's
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

// own returns this process's path in the hierarchy of a controller, which is of
// version 1 where that has the controller.
func own(membership, controller string) (path string, first bool) {
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

// mountOf reads a line of mountinfo: which part of the hierarchy is seen where, if
// it is of the controller.
func mountOf(line, controller string, first bool) (root, point string, ok bool) {
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
