// Package queue is what engines have alike in which jobs wait for a thread: the bounds of
// the queue, and how who asks waits in it. It executes nothing.
package queue

import (
	"context"
	"fmt"
	"time"

	"muster/fileio"
)

// ThreadsMax bounds the threads for transfers, and those for names alone.
const ThreadsMax = 4096

const waitingDefault = 1024

// Check says what is wrong with an engine's bounds, and returns how many jobs may wait: 0
// stands for as many as most want.
func Check(threads, light, waitingMax int) (int, error) {
	if threads < 1 || threads > ThreadsMax || light < 0 || light > ThreadsMax {
		return 0, fmt.Errorf("%d threads for files and %d for names: from 1 and 0 to %d are possible", threads, light, ThreadsMax)
	}
	if waitingMax == 0 {
		waitingMax = waitingDefault
	}
	if waitingMax < 1 {
		return 0, fmt.Errorf("%d jobs that wait: 1 or more are possible", waitingMax)
	}
	return waitingMax, nil
}

// Wait waits for what ready brings. Who has waited for longer than most (0 = there is no
// such time), or whose context ends, leaves with fileio.ErrBusy or with the context's
// error, unless leave answers that it is too late, for the job has been begun: then Wait
// returns when that is done.
func Wait[T any](ctx context.Context, most time.Duration, ready <-chan T, leave func() bool) (T, error) {
	var late <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		late = timer.C
	}
	var reason error
	select {
	case got := <-ready:
		return got, nil
	case <-ctx.Done():
		reason = ctx.Err()
	case <-late:
		reason = fileio.ErrBusy
	}
	if leave() {
		var none T
		return none, reason
	}
	return <-ready, nil
}
