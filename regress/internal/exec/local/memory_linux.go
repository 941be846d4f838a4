package local

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unfit says why the lanes should not work in the memory folder, or "". Each
// lane may hold the given files, the largest source, and what a case leaves.
func unfit(dir string, o *Options) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || int64(st.Type) != unix.TMPFS_MAGIC {
		return dir + " is not a file system in memory"
	}
	if unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return dir + " cannot be written"
	}
	if st.Flags&unix.ST_NOEXEC != 0 {
		return dir + " does not let programs run, which cases may make"
	}
	need := int64(o.Lanes) * laneBytes(o)
	free := min(int64(st.Bavail)*int64(st.Bsize), availableMemory())
	if need > free {
		return fmt.Sprintf("%d lanes may need %d MiB and %s has %d", o.Lanes, need>>20, dir, free>>20)
	}
	return ""
}

// laneBytes is what one lane may hold.
func laneBytes(o *Options) int64 {
	var given, largest int64
	for _, e := range o.Corpus.Given() {
		given += e.Size
	}
	for _, e := range o.Corpus.Cases() {
		largest = max(largest, e.Size)
	}
	return given + largest + o.OutputMax
}

// availableMemory returns how many bytes can be had without swapping and
// without reaching the limit of our control group, which the files in memory
// count towards.
func availableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int64
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return kib << 10
	}
	return min(kib<<10, groupMemory("/sys/fs/cgroup", groups))
}

// groupMemory returns what the memory limits of the control groups leave, of
// ours and of those above it as far as they can be seen. groups is a file
// /proc/PID/cgroup.
func groupMemory(mount string, groups []byte) int64 {
	left := int64(math.MaxInt64)
	for dir, first := range groupFolders(mount, groups, "memory") {
		limit, usage := "memory.max", "memory.current"
		if first {
			limit, usage = "memory.limit_in_bytes", "memory.usage_in_bytes"
		}
		most, ok1 := readNumber(dir + "/" + limit)
		used, ok2 := readNumber(dir + "/" + usage)
		if ok1 && ok2 {
			left = min(left, max(0, most-used+reclaimable(dir+"/memory.stat")))
		}
	}
	return left
}

// groupFolders are the folders of the control groups that may have a limit of a
// kind, ours and those above it, and whether it is of version 1. groups is a file
// /proc/PID/cgroup.
func groupFolders(mount string, groups []byte, kind string) iter.Seq2[string, bool] {
	return func(yield func(dir string, first bool) bool) {
		for line := range bytes.Lines(groups) {
			fields := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
			if len(fields) < 3 || fields[1] != "" && fields[1] != kind {
				continue
			}
			for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
				if !yield(path.Join(mount, fields[1], dir), fields[1] != "") {
					return
				}
				if dir == "/" {
					break
				}
			}
		}
	}
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
