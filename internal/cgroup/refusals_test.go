package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// makeProc creates a /proc with this membership and these mounts, and files below GROUPS, the
// mount point. put writes one further file.
func makeProc(t *testing.T, membership, mounts string, files map[string]string) (proc string, put func(at, text string)) {
	t.Helper()
	dir := t.TempDir()
	put = func(at, text string) {
		t.Helper()
		at = filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("proc/self/cgroup", membership)
	put("proc/self/mountinfo", strings.ReplaceAll(mounts, "GROUPS", filepath.Join(dir, "groups"))+"\n")
	for at, text := range files {
		put("groups/"+at, text)
	}
	return filepath.Join(dir, "proc"), put
}

// TestRefusals covers control groups of both versions, and containers that see a part of the
// tree.
func TestRefusals(t *testing.T) {
	const v1 = "9:name=systemd:/\n8:cpu,pids:/a/b\n0::/x\n"
	for name, c := range map[string]struct {
		cgroup, mount string
		files         map[string]string // below the mount
		raise         string            // the file that a refusal changes
		detected      bool
	}{
		"version 1":           {v1, "30 29 0:36 / GROUPS rw - cgroup pids rw,cpu,pids", map[string]string{"a/b/pids.max": "40", "a/b/pids.events": "max 1"}, "a/b/pids.events", true},
		"version 1, above":    {v1, "30 29 0:36 / GROUPS rw - cgroup pids rw,pids", map[string]string{"a/pids.max": "40", "a/b/pids.max": "max\n", "a/b/pids.events": "max 1"}, "a/b/pids.events", true},
		"version 1, no limit": {v1, "30 29 0:36 / GROUPS rw - cgroup pids rw,pids", map[string]string{"a/b/pids.max": "max\n", "a/b/pids.events": "max 1"}, "a/b/pids.events", false},
		"a container":         {v1, "30 29 0:36 /a GROUPS rw - cgroup pids rw,pids", map[string]string{"b/pids.max": "40", "b/pids.events": "max 1"}, "b/pids.events", true},
		"another container":   {v1, "30 29 0:36 /aa GROUPS rw - cgroup pids rw,pids", map[string]string{"b/pids.max": "40", "b/pids.events": "max 1"}, "b/pids.events", false},
		"version 2":           {"0::/a/b\n", "30 29 0:36 / GROUPS rw shared:1 - cgroup2 none rw", map[string]string{"a/pids.max": "40", "a/b/pids.max": "max", "a/pids.events.local": "max 1"}, "a/pids.events.local", true},
		"version 2, children": {"0::/a\n", "30 29 0:36 / GROUPS rw - cgroup2 none rw", map[string]string{"a/pids.max": "40", "a/pids.events.local": "max 0", "a/pids.events": "max 1"}, "a/pids.events", false},
		"version 2, Linux 5":  {"0::/a\n", "30 29 0:36 / GROUPS rw - cgroup2 none rw", map[string]string{"a/pids.max": "40", "a/pids.events": "max 1"}, "a/pids.events", true},
		"none":                {"", "", map[string]string{"x": ""}, "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			proc, put := makeProc(t, c.cgroup, c.mount, c.files)
			r := OpenRefusals(proc)
			defer r.Close()
			before := r.Snapshot()
			if r.ChangedSince(before) {
				t.Error("a refusal was detected before one happened")
			}
			put("groups/"+c.raise, "max 2")
			if got := r.ChangedSince(before); got != c.detected {
				t.Errorf("a refusal was detected: %v, with %d counters", got, len(r.counters))
			}
		})
	}
}
