package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the most that the processes of muster itself took at one time.
type usage struct {
	memory  int64 // bytes: anonymous pages of all of them, and their lanes' files in memory
	threads int64 // of the first of them
}

// watch looks at the processes of a program until stop is closed.
func watch(program string, stop <-chan struct{}, every time.Duration) (most usage) {
	before := inMemory()
	for {
		var now usage
		for _, pid := range processes(program) {
			status := statusOf(pid)
			now.memory += 1024 * (status["RssAnon"] + status["RssShmem"])
			if now.threads == 0 {
				now.threads = status["Threads"]
			}
		}
		now.memory += max(0, inMemory()-before)
		most.memory, most.threads = max(most.memory, now.memory), max(most.threads, now.threads)
		select {
		case <-stop:
			return most
		case <-time.After(every):
		}
	}
}

// inMemory is how many bytes the files in the system's folder in memory take.
func inMemory() int64 {
	var s syscall.Statfs_t
	if syscall.Statfs("/dev/shm", &s) != nil {
		return 0
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize
}

// processes returns those that run a program, in the order in which they began.
func processes(program string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == program {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func statusOf(pid int) map[string]int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // it may have ended
	figures := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
			figures[key] = n
		}
	}
	return figures
}
