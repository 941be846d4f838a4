package local

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
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
	return tooSmall(dir, o, min(int64(st.Bavail)*int64(st.Bsize), availableMemory()))
}

// tooSmall says that the lanes may need more than what is free.
func tooSmall(dir string, o *Options, free int64) string {
	if need := laneBytes(o); need > free/int64(o.Lanes) {
		lanes := "1 lane"
		if o.Lanes > 1 {
			lanes = fmt.Sprintf("%d lanes", o.Lanes)
		}
		return fmt.Sprintf("%s may need %d MiB and %s has %d", lanes, need>>20*int64(o.Lanes), dir, free>>20)
	}
	return ""
}

// warnOfRoom tells when cases could fill the file system that is to hold the lanes. A
// tool that does, and removes what it wrote before it ends, fails as if by itself.
func warnOfRoom(dir string, o *Options) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return
	}
	if why := tooSmall(dir, o, int64(st.Bavail)*int64(st.Bsize)); why != "" {
		o.Warn(why + ": a tool that fills it and removes what it wrote seems to fail by itself; free space there, or use fewer --jobs or a lower --output-max")
	}
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
	return given + largest + min(o.OutputMax, 1<<60) // and no overflow
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
	return min(kib<<10, cgroup.MemoryLeft("/proc"))
}
