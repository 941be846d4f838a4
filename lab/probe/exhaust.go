package probe

import (
	"fmt"
	"time"
)

// ThreadsMax is the number of threads that Go allows a program by default. Programs change it
// with debug.SetMaxThreads.
const ThreadsMax = 10_000

const exhaustQuestion = "how Go ends a program with too many threads"

// ExhaustOptions configures [Exhaust].
type ExhaustOptions struct {
	Command  []string      // starts a process that only calls BlockThreads with the same limit
	Limit    int           // 0 = ThreadsMax
	Patience time.Duration // time limit for the process; 0 = one minute
}

// ExhaustResult describes the end of a program that needed more threads than Go allows.
type ExhaustResult struct {
	Limit   int
	Threads int    // the largest number that the process reported
	Output  string // the runtime's message, without the stacks
	Status  int    // exit status; -1 = killed by a signal
	Wall    time.Duration
}

// An UnmeasurableError means that this machine cannot make a measurement, or not without harm.
type UnmeasurableError struct {
	What   string
	Reason string
}

func (c *UnmeasurableError) Error() string {
	return fmt.Sprintf("%s cannot be measured here: %s", c.What, c.Reason)
}
