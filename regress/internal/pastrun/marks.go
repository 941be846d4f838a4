package pastrun

import (
	"slices"

	"muster/regress/internal/state"
)

// Marks say which results are accepted, by their index in Run.Results.
type Marks []bool

// Marks returns the marks of the results.
func (r *Run) Marks() Marks {
	marks := make(Marks, len(r.Results))
	for i := range r.Results {
		marks[i] = r.Results[i].Accepted
	}
	return marks
}

// WithMarks returns the run with other marks. It does not write them.
func (r *Run) WithMarks(marks Marks) *Run {
	marked := *r
	marked.Results = slices.Clone(r.Results)
	for i := range marked.Results {
		marked.Results[i].Accepted = marks[i]
	}
	return &marked
}

// AcceptedIn returns a function that reports whether a case is accepted by the results.
func AcceptedIn(results []state.Result) func(caseName string) bool {
	accepted := map[string]bool{}
	for i := range results {
		accepted[string(results[i].Name)] = results[i].Accepted
	}
	return func(caseName string) bool { return accepted[caseName] }
}
