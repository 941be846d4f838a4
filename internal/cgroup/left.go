package cgroup

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

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
