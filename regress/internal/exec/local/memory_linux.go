package local

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
	"muster/internal/readable"
)

// whyUnfit returns why the lanes should not work in the memory folder, or "". Each lane may
// hold the given files, the largest source, and the outputs of a case.
func whyUnfit(dir string, o *Options) string {
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
	return whyTooSmall(dir, o, min(int64(st.Bavail)*int64(st.Bsize), availableMemory()))
}

// whyTooSmall reports that the lanes may need more than the free bytes, or returns "".
func whyTooSmall(dir string, o *Options, free int64) string {
	if need := laneBytes(o); need > free/int64(o.Lanes) {
		each := ""
		if o.Lanes > 1 {
			each = " each"
		}
		return fmt.Sprintf("%s may need %s%s and %s has %s", readable.Count(o.Lanes, "lane"), readable.BinarySize(need), each, dir, readable.BinarySize(free))
	}
	return ""
}

// warnIfSmall warns if cases could fill the lanes' file system. A tool that fills it, and
// removes its files before it ends, seems to fail by itself.
func warnIfSmall(dir string, o *Options) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return
	}
	if why := whyTooSmall(dir, o, int64(st.Bavail)*int64(st.Bsize)); why != "" {
		o.Warn(why + ": a tool that fills it and removes what it wrote seems to fail by itself; free space there, or use fewer --jobs or a lower --output-max")
	}
}

// laneBytes returns how many bytes one lane may hold.
func laneBytes(o *Options) int64 {
	var given, largest int64
	for _, e := range o.Corpus.Given() {
		given += e.Size
	}
	for _, e := range o.Corpus.Cases() {
		largest = max(largest, e.Size)
	}
	return given + largest + min(o.OutputMax, 1<<60) // without overflow
}

// availableMemory returns how many bytes can be used without swapping, and within the limit of
// this program's control group, where files in memory count.
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
	return min(kib<<10, cgroup.MemoryLeft("/proc"))
}
