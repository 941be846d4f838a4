package reuse

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// flagsOf returns what the mount of a path allows: to write, and to run programs. It returns "" if nothing is there.
func flagsOf(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return ""
	}
	return strconv.FormatInt(st.Flags&(unix.ST_RDONLY|unix.ST_NOEXEC|unix.ST_NOSUID|unix.ST_NODEV), 10)
}
