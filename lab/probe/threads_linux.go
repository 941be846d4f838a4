package probe

import "syscall"

// threads is how many threads this process has.
func threads() int {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return int(st.Nlink) - 2 // it holds a folder for each
}
