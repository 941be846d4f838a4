package probe

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"muster/internal/cgroup"
	"muster/internal/readable"
)

// threadBytes bounds the memory of a blocked thread of a Go program, inside and outside the
// kernel.
const threadBytes = 64 << 10

// threadShortage explains why this machine cannot safely run need more threads, or returns "".
// proc is the path of /proc. An unreadable value counts as no limit. It counts the threads of
// all users against each limit; the kernel counts fewer.
func threadShortage(proc string, need int) string {
	root := os.DirFS(proc)
	all := runningThreads(root)
	for _, l := range []struct {
		what string
		max  int
	}{
		{"kernel.threads-max", readLimit(root, "sys/kernel/threads-max")},
		{"kernel.pid_max", readLimit(root, "sys/kernel/pid_max")},
		{"the limit of processes (ulimit -u)", processesMax(root)},
	} {
		if l.max-all < need {
			return fmt.Sprintf("%s is %d, and with %d running threads %d more exceed it", l.what, l.max, all, need)
		}
	}
	if left := cgroup.ProcessesLeft(proc); left < int64(need) {
		return fmt.Sprintf("control groups allow %d more threads, not %d", left, need)
	}
	if free := min(int64(memoryFree(root)), cgroup.MemoryLeft(proc)); free/threadBytes < int64(need) {
		return fmt.Sprintf("%s of memory are available, and %s may need %s", readable.BinarySize(int64(free)), readable.Count(int64(need), "thread"), readable.BinarySize(int64(need*threadBytes)))
	}
	return ""
}

// readLimit reads a file that holds one number. A word such as max, or a missing file, means
// no limit.
func readLimit(root fs.FS, name string) int {
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

// runningThreads returns the number of threads on the machine: the part after the slash in the
// fourth field of loadavg.
func runningThreads(root fs.FS) int {
	text, _ := fs.ReadFile(root, "loadavg")
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(total)
	return n
}

func processesMax(root fs.FS) int { return readField(root, "self/limits", "Max processes", 1) }

func memoryFree(root fs.FS) int {
	return readField(root, "meminfo", "MemAvailable:", 1<<10)
}

// readField returns the first number after a word at the start of a line.
func readField(root fs.FS, name, word string, unit int) int {
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
