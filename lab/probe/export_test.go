package probe

import "sync/atomic"

// CountTasks returns how many tasks a contestant has done after run.
func CountTasks(impl, mode string, n, workers int) int {
	var done atomic.Int64
	c, _ := newContestant(impl, workers, func(int) { done.Add(1) })
	defer c.Close()
	c.Run(mode, n, workers)
	return int(done.Load())
}
