package pass

import "time"

const (
	// handTime is the expected total duration of the tasks that a lane gets at once. It is long
	// compared with the cost of asking and waking, some 25 µs, and short for people.
	handTime = 16 * time.Millisecond

	// handMax is the largest number of tasks at once.
	handMax = 8
)

// pace is a moving average of the durations of a lane's cases.
type pace time.Duration

func (p *pace) add(wall time.Duration) { *p += (pace(wall) - *p) / 4 }

// casesThatFit returns how many cases of this pace fit into handTime.
func (p *pace) casesThatFit() int {
	return max(1, min(handMax, int(handTime/time.Duration(max(*p, 1)))))
}

func newPace() *pace {
	p := pace(handTime)
	return &p
}
