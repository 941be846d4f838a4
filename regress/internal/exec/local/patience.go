package local

import "time"

// patience bounds the waits for what may never come.
type patience struct {
	kill   time.Duration // for a case's processes to be gone after KILL
	answer time.Duration // for a helper's answer, beyond what its case may take
	end    time.Duration // for a helper to end by itself; it may be clearing up after its case
	killed time.Duration // for a helper to end after KILL
}

// usualPatience is the patience of all but tests. An answer may take as long as a lane's
// start, for the lane may be laid anew before the case.
func usualPatience() patience {
	return patience{kill: 10 * time.Second, answer: readyPatience, end: 5 * time.Second, killed: time.Second}
}

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
