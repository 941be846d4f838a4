package lab

import "muster/lab/internal/run"

// A planner adds the trials of questions to a plan.
type planner struct{ *run.Plan }

// processors is how many what is measured may use at the same time: a container's quota may
// make them fewer than there are.
func processors() int { return run.Processors() }

// oneAnd is 1 and n.
func oneAnd(n int) []int {
	if n > 1 {
		return []int{1, n}
	}
	return []int{1}
}
