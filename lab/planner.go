package lab

import "muster/lab/internal/run"

// A planner adds the trials of this package's questions to a plan.
type planner struct{ *run.Plan }

// processors returns how many processors a measured process may use. A container's quota may
// reduce it.
func processors() int { return run.Processors() }

// oneAndMax returns 1 and n, without repetition.
func oneAndMax(n int) []int {
	if n > 1 {
		return []int{1, n}
	}
	return []int{1}
}
