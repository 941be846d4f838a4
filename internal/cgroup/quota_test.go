package cgroup

import (
	"math"
	"testing"
)

// The least quota of our group and its parents applies.
func TestProcessorsQuota(t *testing.T) {
	const (
		v2 = "30 29 0:36 / GROUPS rw shared:1 - cgroup2 none rw"
		v1 = "31 29 0:37 / GROUPS/c rw - cgroup cpu rw,cpu,cpuacct\n"
	)
	none := math.Inf(1)
	for name, c := range map[string]struct {
		membership, mounts string
		files              map[string]string
		want               float64
	}{
		"version 2":           {"0::/a/b\n", v2, map[string]string{"a/b/cpu.max": "150000 100000\n", "a/cpu.max": "max 100000\n"}, 1.5},
		"a parent with less":  {"0::/a/b\n", v2, map[string]string{"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "50000 100000\n"}, 0.5},
		"version 1":           {"4:cpu,cpuacct:/a\n0::/\n", v1, map[string]string{"c/a/cpu.cfs_quota_us": "300000\n", "c/a/cpu.cfs_period_us": "100000\n", "c/cpu.cfs_quota_us": "-1\n", "c/cpu.cfs_period_us": "100000\n"}, 3},
		"no quota":            {"0::/a\n", v2, map[string]string{"a/cpu.max": "max 100000\n"}, none},
		"a period of nothing": {"0::/a\n", v2, map[string]string{"a/cpu.max": "100000 0\n"}, none},
		"no number":           {"0::/a\n", v2, map[string]string{"a/cpu.max": "NaN 100000\n"}, none},
		"no groups":           {"", "", nil, none},
	} {
		t.Run(name, func(t *testing.T) {
			proc, _ := makeProc(t, c.membership, c.mounts, c.files)
			if got := ProcessorsQuota(proc); got != c.want {
				t.Errorf("%v processors, want %v", got, c.want)
			}
		})
	}
}
