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
	cpu, began := cpuTime(), time.Now()
	run(n)
	wall := time.Since(began)
	return Cost{N: n, Wall: wall, CPU: cpuTime() - cpu}
}

// cpuTime returns the CPU time of this process so far, 0 if it is unknown.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
