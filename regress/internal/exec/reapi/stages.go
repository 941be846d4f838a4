package reapi

import (
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
)

// State counts the executions in flight, and those in each stage that the engine reports.
// Executions without a reported stage are in neither.
type State struct{ InFlight, Queued, Running int }

// State returns the present counts.
func (e *Engine) State() State { return e.stages.now() }

// stages counts executions.
type stages struct {
	mu       sync.Mutex
	inFlight int
	in       map[repb.ExecutionStage_Value]int
}

// execute counts an execution while it runs.
func (s *stages) execute(do func(stated func(repb.ExecutionStage_Value)) (*repb.ExecuteResponse, error)) (*repb.ExecuteResponse, error) {
	stage := repb.ExecutionStage_UNKNOWN
	move := func(n int, to repb.ExecutionStage_Value) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.in == nil {
			s.in = map[repb.ExecutionStage_Value]int{}
		}
		s.inFlight += n
		s.in[stage]--
		s.in[to]++
		stage = to
	}
	move(1, repb.ExecutionStage_UNKNOWN)
	defer move(-1, repb.ExecutionStage_UNKNOWN)
	return do(func(to repb.ExecutionStage_Value) { move(0, to) })
}

func (s *stages) now() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s.inFlight, s.in[repb.ExecutionStage_QUEUED], s.in[repb.ExecutionStage_EXECUTING]}
}
