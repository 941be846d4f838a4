package cgroup

import "testing"

// TestLeft checks the remains of our group's limits and its parents', wherever the controller
// is mounted.
func TestLeft(t *testing.T) {
	const (
		v2     = "30 29 0:36 / GROUPS rw shared:1 - cgroup2 none rw"
		pids   = "31 29 0:37 / GROUPS/p rw - cgroup pids rw,pids\n"
		memory = "32 29 0:38 / GROUPS/m rw - cgroup memory rw,memory\n"
		both   = "33 29 0:39 / GROUPS/both rw - cgroup none rw,memory,pids\n"
	)
	for name, c := range map[string]struct {
		membership, mounts string
		files              map[string]string
		processes, bytes   int64
	}{
		"version 2": {"0::/a/b\n", v2, map[string]string{
			"a/pids.max": "1000\n", "a/pids.current": "40\n", "a/b/pids.max": "max\n", "a/b/pids.current": "3\n",
			"a/memory.max": "max\n", "a/memory.current": "9\n", "a/b/memory.max": "100\n", "a/b/memory.current": "90\n",
			"a/b/memory.stat": "anon 60\ninactive_file 30\n",
		}, 960, 40},
		"version 2, the top": {"0::/\n", v2, map[string]string{"cgroup.procs": "1"}, Unlimited, Unlimited},
		"version 1": {"4:memory:/a\n8:pids:/c\n0::/\n", pids + memory, map[string]string{
			"p/c/pids.max": "500", "p/c/pids.current": "501",
			"m/memory.limit_in_bytes": "70", "m/memory.usage_in_bytes": "60",
			"m/a/memory.limit_in_bytes": "1000", "m/a/memory.usage_in_bytes": "1", "m/memory.stat": "inactive_file 1\ntotal_inactive_file 5\n",
		}, 0, 15},
		"version 1, mounted together": {"4:memory,pids:/a\n0::/\n", both, map[string]string{
			"both/a/pids.max": "50", "both/a/pids.current": "1",
			"both/a/memory.limit_in_bytes": "80", "both/a/memory.usage_in_bytes": "60",
		}, 49, 20},
		"versions side by side": {"4:memory:/a\n0::/b\n", memory + v2, map[string]string{
			"b/pids.max": "9", "b/pids.current": "2", "b/memory.max": "1", "b/memory.current": "1",
			"m/a/memory.limit_in_bytes": "80", "m/a/memory.usage_in_bytes": "60",
		}, 7, 20},
		"a container that sees its part": {"0::/docker/1/x\n", "30 29 0:36 /docker/1 GROUPS rw - cgroup2 none rw", map[string]string{
			"x/pids.max": "max", "pids.max": "8", "pids.current": "2", "docker/1/x/pids.max": "1",
		}, 6, Unlimited},
		"a container that does not see it": {"0::/../x\n", v2, map[string]string{
			"pids.max": "8", "pids.current": "2", "x/pids.max": "8", "x/pids.current": "2",
		}, Unlimited, Unlimited},
		"a path with a space": {"0::/a\n", `30 29 0:36 / GROUPS/x\040y rw - cgroup2 none rw`, map[string]string{
			"x y/a/pids.max": "8", "x y/a/pids.current": "2",
		}, 6, Unlimited},
		"none": {"", "", nil, Unlimited, Unlimited},
	} {
		t.Run(name, func(t *testing.T) {
			proc, _ := makeProc(t, c.membership, c.mounts, c.files)
			if got := ProcessesLeft(proc); got != c.processes {
				t.Errorf("%d processes are left, want %d", got, c.processes)
			}
			if got := MemoryLeft(proc); got != c.bytes {
				t.Errorf("%d bytes are left, want %d", got, c.bytes)
			}
		})
	}
	if got := ProcessesLeft(t.TempDir()); got != Unlimited {
		t.Errorf("without /proc %d processes are left", got)
	}
}
