package cgroup

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Unlimited is what is left where nothing limits.
const Unlimited = math.MaxInt64

// ProcessesLeft is how many more processes and threads this process's groups may
// have.
func ProcessesLeft(proc string) int64 {
	left := int64(Unlimited)
	for _, dir := range find(proc, "pids").folders {
		if more, ok := difference(dir+"/pids.max", dir+"/pids.current"); ok {
			left = min(left, max(0, more))
		}
	}
	return left
}

// MemoryLeft is how many bytes of memory they leave. What is used for files that are
// on a disk too can be had again.
func MemoryLeft(proc string) int64 {
	g := find(proc, "memory")
	limit, usage := "/memory.max", "/memory.current"
	if g.first {
		limit, usage = "/memory.limit_in_bytes", "/memory.usage_in_bytes"
	}
	left := int64(Unlimited)
	for _, dir := range g.folders {
		if more, ok := difference(dir+limit, dir+usage); ok {
			left = min(left, max(0, more+reclaimable(dir+"/memory.stat")))
		}
	}
	return left
}

// difference is what a limit leaves of what is used, if there is one.
func difference(limit, usage string) (int64, bool) {
	most, ok1 := readNumber(limit)
	used, ok2 := readNumber(usage)
	return most - used, ok1 && ok2
}

// reclaimable is what a control group uses for files that are on a disk too.
func reclaimable(stat string) (bytes int64) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		// In version 1 the total counts the groups below too, as the usage does.
		if _, err := fmt.Sscanf(line, "total_inactive_file %d", &bytes); err == nil {
			return bytes
		}
		_, _ = fmt.Sscanf(line, "inactive_file %d", &bytes)
	}
	return bytes
}

// readNumber reads a file that holds one number; "max", as any other word, is
// none.
func readNumber(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
