package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// On a disk that blocks, five hundred uploads at once take the configured number of threads
// with each engine. Without an engine they take hundreds.
func TestThreadsOnSlowDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("a slow disk is slow")
	}
	bin := build(t)
	disk := slowDisk(t)
	// Go has threads of its own, and more if other processes keep its processors busy
	const ioThreads, prior, own = 8, 2, 16
	for _, engine := range []string{"pool", "cthreads", "direct"} {
		s := newServer(t, bin, "--data", filepath.Join(disk, engine), "--sync", "none", "--io", engine,
			"--io-threads", strconv.Itoa(ioThreads), "--prior-io-threads", strconv.Itoa(prior))
		threads := threadsUnderLoad(t, bin, s, "upload", 500, 1500)
		switch {
		case engine == "direct" && threads < 100:
			t.Errorf("without a bound there were %d threads: the disk does not block", threads)
		case engine != "direct" && threads > ioThreads+prior+own:
			t.Errorf("%s: %d threads, not %d + %d + %d at most", engine, threads, ioThreads, prior, own)
		}
		_ = s.Process.Kill()
	}
}

// threadsUnderLoad returns the largest number of the server's threads.
func threadsUnderLoad(t *testing.T, bin string, s *server, op string, connections, requests int) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "muster"), "load", op, strconv.Itoa(connections), strconv.Itoa(requests), "50K",
		"--addr", s.url, "--pid", strconv.Itoa(s.Process.Pid), "--format", "json")
	text, err := cmd.Output()
	var result struct {
		Succeeded int
		Threads   int `json:"threads_peak"`
	}
	if e := json.Unmarshal(text, &result); err != nil || e != nil || result.Succeeded != requests {
		t.Fatalf("%v, %v: %s", err, e, text)
	}
	return result.Threads
}

const slowDiskScript = "../../bench/files/slow-disk"

// slowDisk makes a disk that blocks, for the duration of the test.
func slowDisk(t *testing.T) string {
	t.Helper()
	disk := filepath.Join(t.TempDir(), "slow")
	out, err := exec.CommandContext(t.Context(), slowDiskScript, "make", disk, "1G").CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
		lacks(t, fmt.Sprintf("slow disk: %s", out))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		out, err := exec.CommandContext(context.Background(), slowDiskScript, "remove", disk).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return disk
}
