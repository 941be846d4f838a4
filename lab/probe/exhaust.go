package probe

import "time"

// ThreadsMax is the number of threads that Go allows a program by default. Programs change it
// with debug.SetMaxThreads.
const ThreadsMax = 10_000

// ExhaustOptions configures [Exhaust].
type ExhaustOptions struct {
	Command  []string      // starts a process that only calls BlockThreads with the same limit
	Limit    int           // 0 = ThreadsMax
	Patience time.Duration // time limit for the process; 0 = one minute
}

// ExhaustResult describes the end of a program that needed more threads than Go allows.
type ExhaustResult struct {
	Threads int    // the largest number that the process reported
	Output  string // the runtime's message, without the stacks
	Status  int    // exit status; -1 = killed by a signal
	Wall    time.Duration
}

// An UnmeasurableError means that this machine cannot run a program out of threads, or not without harm.
type UnmeasurableError struct{ Reason string }

func (c *UnmeasurableError) Error() string {
	return "how Go ends a program with too many threads cannot be measured here: " + c.Reason
}
