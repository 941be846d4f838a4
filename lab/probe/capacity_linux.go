package probe

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"muster/internal/cgroup"
)

// What a blocked thread of a Go program takes in the kernel and beside it, at most.
const threadBytes = 64 << 10

// tooFewThreads tells why so many more threads are not to be had without harm, or ""; proc
// is /proc. What cannot be read is no limit. Threads of everybody count against each
// limit, which is more than the kernel counts.
func tooFewThreads(proc string, need int) string {
	root := os.DirFS(proc)
	all := running(root)
	for _, l := range []struct {
		what string
		max  int
	}{
		{"kernel.threads-max", number(root, "sys/kernel/threads-max")},
		{"kernel.pid_max", number(root, "sys/kernel/pid_max")},
		{"the limit of processes (ulimit -u)", processesMax(root)},
	} {
		if l.max-all < need {
			return fmt.Sprintf("%s is %d and %d threads run, so %d more are too many", l.what, l.max, all, need)
		}
	}
	if left := cgroup.ProcessesLeft(proc); left < int64(need) {
		return fmt.Sprintf("control groups leave %d threads, so %d more are too many", left, need)
	}
	if free := min(int64(memoryFree(root)), cgroup.MemoryLeft(proc)); free/threadBytes < int64(need) {
		return fmt.Sprintf("%d MiB of memory are free, and %d threads may take %d", free>>20, need, need*threadBytes>>20)
	}
	return ""
}

// number reads a file with one; a word such as max, or no file, is no limit.
func number(root fs.FS, name string) int {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return math.MaxInt
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return math.MaxInt
	}
	return n
}

// running is how many threads there are in all: the fourth field of loadavg, behind the
// slash.
func running(root fs.FS) int {
	text, _ := fs.ReadFile(root, "loadavg")
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(total)
	return n
}

func processesMax(root fs.FS) int { return field(root, "self/limits", "Max processes", 1) }

func memoryFree(root fs.FS) int {
	return field(root, "meminfo", "MemAvailable:", 1<<10)
}

// field reads the number that comes first behind a word at a line's beginning.
func field(root fs.FS, name, word string, unit int) int {
	text, _ := fs.ReadFile(root, name)
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, word)
		if !ok {
			continue
		}
		if fields := strings.Fields(rest); len(fields) > 0 {
			if n, err := strconv.Atoi(fields[0]); err == nil {
				return n * unit
			}
		}
	}
	return math.MaxInt
}
