package local

import "time"

// patience bounds the waits for events that may never come.
type patience struct {
	kill   time.Duration // for the end of a case's processes after KILL
	look   time.Duration // between two looks at a helper that owes an answer
	answer time.Duration // for an overdue answer of a helper that makes no progress
	end    time.Duration // for a helper to end by itself, without progress; it may be clearing up after its case
	killed time.Duration // for a helper to end after KILL, without progress
	load   time.Duration // added to answer, end and killed while there is progress
}

// usualPatience is the patience outside tests. A helper may make its lane's folder anew before
// a case, so load is as long as a lane's start may take.
func usualPatience() patience {
	return patience{
		kill: 10 * time.Second, look: 250 * time.Millisecond, answer: time.Minute,
		end: 5 * time.Second, killed: 5 * time.Second, load: readyPatience,
	}
}

// wakesMax bounds how often a stopped helper is woken within one case.
const wakesMax = 10

const (
	// readyPatience bounds how long a lane may take to place the given files.
	readyPatience = 5 * time.Minute

	// sendPatience bounds how long a helper may leave a job unread. All but the first
	// message fit into the kernel's buffer.
	sendPatience = readyPatience
)

// casePatience is how long a case may take until it is ended and its processes are
// gone.
func (o *Options) casePatience() time.Duration {
	const most = 365 * 24 * time.Hour // a sum of two cannot overflow
	return min(o.Timeout, most) + min(o.Grace, most) + o.patience.kill
}
