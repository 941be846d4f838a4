package probe

import (
	"fmt"
	"time"
)

// ThreadsMax is how many threads Go lets a program have, unless that asks for others with
// debug.SetMaxThreads.
const ThreadsMax = 10_000

// ExhaustOptions say which process is to run out of threads.
type ExhaustOptions struct {
	Command  []string      // starts one that does nothing but call BlockThreads with the same limit
	Limit    int           // 0 = ThreadsMax
	Patience time.Duration // within which the process must have ended; 0 = a minute
}

// Exhausted is how a program ended that needed more threads than Go lets it have.
type Exhausted struct {
	Limit   int
	Threads int    // the most that it told of while it was able to
	Said    string // what Go's runtime said, without the stacks
	Status  int    // of its exit; -1 = ended by a signal
	Wall    time.Duration
}

// CannotTell says why something is not measured here: it cannot be, or would do harm.
type CannotTell struct {
	What   string
	Reason string
}

func (c *CannotTell) Error() string {
	return fmt.Sprintf("%s cannot be told here: %s", c.What, c.Reason)
}
