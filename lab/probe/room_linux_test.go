package probe

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestTooFewThreads(t *testing.T) {
	roomy := map[string]string{
		"proc/sys/kernel/threads-max": "100000\n", "proc/sys/kernel/pid_max": "100000\n",
		"proc/loadavg":               "0.1 0.2 0.3 3/500 12345\n",
		"proc/self/limits":           "Limit  Soft  Hard\nMax processes             unlimited            unlimited            processes\n",
		"proc/self/cgroup":           "8:pids:/a\n0::/a/b\n",
		"proc/meminfo":               "MemTotal: 99999999 kB\nMemAvailable: 9999999 kB\n",
		"sys/fs/cgroup/a/pids.max":   "max\n",
		"sys/fs/cgroup/a/b/pids.max": "50000\n", "sys/fs/cgroup/a/b/pids.current": "10\n",
	}
	for _, test := range []struct{ file, text, reason string }{
		{"", "", ""},
		{"proc/sys/kernel/threads-max", "10499", "threads-max is 10499 and 500"},
		{"proc/sys/kernel/threads-max", "10500", ""},
		{"proc/sys/kernel/pid_max", "4096", "pid_max"},
		{"proc/self/limits", "Max processes             8000            9000            processes", "ulimit -u"},
		{"proc/meminfo", "MemAvailable: 600000 kB", "585 MiB of memory are free, and 10000 threads may take 625"},
		{"sys/fs/cgroup/a/b/pids.max", "10009", "/sys/fs/cgroup/a/b allows 10009 threads and has 10"},
		{"sys/fs/cgroup/a/pids.max", "512", "/sys/fs/cgroup/a allows 512"},
		{"sys/fs/cgroup/pids/a/pids.max", "512", "/sys/fs/cgroup/pids/a allows 512"},
		{"sys/fs/cgroup/pids/other/pids.max", "512", ""},
	} {
		root := fstest.MapFS{}
		for name, text := range roomy {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if test.file != "" {
			root[test.file] = &fstest.MapFile{Data: []byte(test.text)}
		}
		if test.file != "" && strings.HasSuffix(test.file, "pids.max") && root[strings.TrimSuffix(test.file, "max")+"current"] == nil {
			root[strings.TrimSuffix(test.file, "max")+"current"] = &fstest.MapFile{Data: []byte("10")}
		}
		reason := tooFewThreads(root, 10_000)
		if test.reason == "" && reason != "" || !strings.Contains(reason, test.reason) {
			t.Errorf("with %s of %q: %q, want %q", test.file, test.text, reason, test.reason)
		}
	}
	if reason := tooFewThreads(fstest.MapFS{}, 10_000); reason != "" {
		t.Errorf("where nothing can be read: %q", reason)
	}
}
