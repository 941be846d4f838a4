package probe

import (
	"syscall"
	"time"
)

// Cost is the time of a number of operations.
type Cost struct {
	N    int
	Wall time.Duration
	CPU  time.Duration // user and system time of this process
}

// measure times run, which does n operations.
func measure(n int, run func(n int)) Cost {
	cpu, began := usage(syscall.RUSAGE_SELF), time.Now()
	run(n)
	wall := time.Since(began)
	used := usage(syscall.RUSAGE_SELF).Since(cpu)
	return Cost{N: n, Wall: wall, CPU: used.User + used.System}
}

// CPUTimes are CPU times, as the shell's time reports them.
type CPUTimes struct{ User, System time.Duration }

// Times returns the CPU times so far of this process and of its children that have ended.
func Times() CPUTimes {
	own, children := usage(syscall.RUSAGE_SELF), usage(syscall.RUSAGE_CHILDREN)
	return CPUTimes{own.User + children.User, own.System + children.System}
}

// Since returns the times since earlier ones.
func (t CPUTimes) Since(earlier CPUTimes) CPUTimes {
	return CPUTimes{t.User - earlier.User, t.System - earlier.System}
}

// usage returns the times of this process or of its children, 0 if they are unknown.
func usage(who int) CPUTimes {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return CPUTimes{}
	}
	return CPUTimes{time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())}
}
