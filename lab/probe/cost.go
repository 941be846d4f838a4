package probe

import (
	"syscall"
	"time"
)

// Cost is what a number of operations took.
type Cost struct {
	N    int
	Wall time.Duration
	CPU  time.Duration // user and system time of this process
}

// plus is what both took.
func (c Cost) plus(d Cost) Cost {
	return Cost{N: c.N + d.N, Wall: c.Wall + d.Wall, CPU: c.CPU + d.CPU}
}

// measure takes the time of run, which does n operations.
func measure(n int, run func(n int)) Cost {
	cpu, began := cpuTime(), time.Now()
	run(n)
	wall := time.Since(began)
	return Cost{N: n, Wall: wall, CPU: cpuTime() - cpu}
}

// cpuTime is what this process has used so far; 0 when that cannot be told.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
