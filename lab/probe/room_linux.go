package probe

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// What a blocked thread of a Go program takes in the kernel and beside it, at most.
const threadBytes = 64 << 10

// tooFewThreads tells why so many more threads are not to be had without harm, or ""; root
// is the file system. What cannot be read is no limit. Threads of everybody count against
// each limit, which is more than the kernel counts.
func tooFewThreads(root fs.FS, need int) string {
	all := running(root)
	for _, l := range []struct {
		what string
		max  int
	}{
		{"kernel.threads-max", number(root, "proc/sys/kernel/threads-max")},
		{"kernel.pid_max", number(root, "proc/sys/kernel/pid_max")},
		{"the limit of processes (ulimit -u)", processesMax(root)},
	} {
		if l.max-all < need {
			return fmt.Sprintf("%s is %d and %d threads run, so %d more are too many", l.what, l.max, all, need)
		}
	}
	for _, dir := range pidGroups(root) {
		limit, current := number(root, dir+"/pids.max"), number(root, dir+"/pids.current")
		if limit < math.MaxInt && limit-need < current {
			return fmt.Sprintf("control group /%s allows %d threads and has %d, so %d more are too many", dir, limit, current, need)
		}
	}
	if free := memoryFree(root); free/threadBytes < need {
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
	text, _ := fs.ReadFile(root, "proc/loadavg")
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(total)
	return n
}

func processesMax(root fs.FS) int { return field(root, "proc/self/limits", "Max processes", 1) }

func memoryFree(root fs.FS) int {
	return field(root, "proc/meminfo", "MemAvailable:", 1<<10)
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

// pidGroups are the folders of the control groups that count this process's threads, of
// both versions, and of those above them, where they are usually mounted.
func pidGroups(root fs.FS) (folders []string) {
	membership, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(membership)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mount := ""
		switch fields[1] {
		case "":
			mount = "sys/fs/cgroup"
		case "pids":
			mount = "sys/fs/cgroup/pids"
		default:
			continue
		}
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			folders = append(folders, strings.TrimSuffix(mount+at, "/"))
			if at == "/" {
				break
			}
		}
	}
	return folders
}
