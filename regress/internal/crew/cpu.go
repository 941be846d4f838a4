package crew

import (
	"syscall"
	"time"
)

// UsedCPU returns the CPU time that this process itself has used so far.
func UsedCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
