package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTooFewThreads(t *testing.T) {
	for _, test := range []struct{ file, text, reason string }{
		{"", "", ""},
		{"sys/kernel/threads-max", "10499", "threads-max is 10499, and with 500"},
		{"sys/kernel/threads-max", "10500", ""},
		{"sys/kernel/pid_max", "4096", "pid_max"},
		{"self/limits", "Max processes             8000            9000            processes", "ulimit -u"},
		{"meminfo", "MemAvailable: 600000 kB", "585.9 MiB of memory are available, and 10,000 threads may need 625"},
		{"groups/a/b/pids.max", "10009", "control groups allow 9999 more threads"},
		{"groups/a/b/memory.max", "500000000", "476.8 MiB of memory are available"},
	} {
		proc := t.TempDir()
		roomy := map[string]string{
			"sys/kernel/threads-max": "100000\n", "sys/kernel/pid_max": "100000\n",
			"loadavg":             "0.1 0.2 0.3 3/500 12345\n",
			"self/limits":         "Limit  Soft  Hard\nMax processes             unlimited            unlimited            processes\n",
			"self/cgroup":         "0::/a/b\n",
			"self/mountinfo":      "30 29 0:36 / " + proc + "/groups rw shared:1 - cgroup2 none rw\n",
			"meminfo":             "MemTotal: 99999999 kB\nMemAvailable: 9999999 kB\n",
			"groups/a/pids.max":   "max\n",
			"groups/a/b/pids.max": "50000\n", "groups/a/b/pids.current": "10\n",
			"groups/a/b/memory.current": "0\n",
		}
		if test.file != "" {
			roomy[test.file] = test.text
		}
		for name, text := range roomy {
			name = filepath.Join(proc, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		reason := threadShortage(proc, 10_000)
		if test.reason == "" && reason != "" || !strings.Contains(reason, test.reason) {
			t.Errorf("with %s of %q: %q, want %q", test.file, test.text, reason, test.reason)
		}
	}
	if reason := threadShortage(t.TempDir(), 10_000); reason != "" {
		t.Errorf("without readable limits: %q", reason)
	}
}
