package reapi

import (
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"muster/regress/internal/outcome"
)

// fromMetadata is what an engine says of where and how long a command ran. CPU and memory are
// in messages of some engines alone.
func fromMetadata(m *repb.ExecutedActionMetadata) (outcome.Cost, outcome.EngineRun) {
	r := outcome.EngineRun{
		Worker:    shortened(m.GetWorker()),
		Queued:    between(m.GetQueuedTimestamp(), m.GetWorkerStartTimestamp()),
		QueueTold: m.GetQueuedTimestamp().IsValid() && m.GetWorkerStartTimestamp().IsValid(),
		Took:      between(m.GetExecutionStartTimestamp(), m.GetExecutionCompletedTimestamp()),
	}
	if r.Took == 0 && m.GetVirtualExecutionDuration().IsValid() {
		r.Took = credible(m.GetVirtualExecutionDuration().AsDuration())
	}
	cost := outcome.Cost{Wall: r.Took}
	for _, extra := range m.GetAuxiliaryMetadata() {
		if cpu, peak, ok := usage(extra); ok {
			cost.CPU, cost.PeakRSS, r.Measured = cpu, peak, true
		}
	}
	return cost, r
}

// addMeasured adds what was measured here. Where the engine does not say when it put a run into
// its queue, what no worker had of the time counts as that, and with it the way there and back.
func addMeasured(r *outcome.EngineRun, resp response) {
	m := resp.result.GetExecutionMetadata()
	r.Asked = resp.asked
	from, to := m.GetWorkerStartTimestamp(), m.GetWorkerCompletedTimestamp()
	if !r.QueueTold && resp.asked > 0 && from.IsValid() && to.IsValid() {
		r.Queued, r.QueueTold = max(0, resp.asked-between(from, to)), true
	}
}

// Figures beyond these are an engine's mistake, or sums over many cases would overflow.
const (
	spanMax   = 30 * 24 * time.Hour
	peakMax   = 1 << 40 // KiB
	workerMax = 200     // bytes of a name
)

// credible is 0 for a span that no command takes.
func credible(d time.Duration) time.Duration {
	if d < 0 || d > spanMax {
		return 0
	}
	return d
}

func shortened(worker string) string {
	if len(worker) <= workerMax {
		return worker
	}
	return strings.ToValidUTF8(worker[:workerMax], "") + "…"
}

// between is a span that cannot be negative: clocks of several machines are behind it.
func between(from, to *timestamppb.Timestamp) time.Duration {
	if !from.IsValid() || !to.IsValid() {
		return 0
	}
	return credible(to.AsTime().Sub(from.AsTime()))
}
