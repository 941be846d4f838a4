package pass

import "time"

const (
	// handTime is how long the tasks that a lane gets at once should take together.
	// It is long beside what asking and waking cost, some 25 µs, and short for people.
	handTime = 16 * time.Millisecond

	// handMax is the most tasks at once.
	handMax = 8
)

// pace is how long a lane's cases took, the last ones most.
type pace time.Duration

func (p *pace) note(wall time.Duration) { *p += (pace(wall) - *p) / 4 }

// fits is how many more such cases fit into handTime.
func (p *pace) fits() int { return max(1, min(handMax, int(handTime/time.Duration(max(*p, 1))))) }

func newPace() *pace {
	p := pace(handTime)
	return &p
}
