package reapi

import (
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"muster/regress/internal/outcome"
)

// fromMetadata returns the engine's account of where and how long a command ran. Only some
// engines report CPU and memory.
func fromMetadata(m *repb.ExecutedActionMetadata) (outcome.Cost, outcome.EngineRun) {
	r := outcome.EngineRun{
		Worker:     shortened(m.GetWorker()),
		Queued:     between(m.GetQueuedTimestamp(), m.GetWorkerStartTimestamp()),
		QueueKnown: m.GetQueuedTimestamp().IsValid() && m.GetWorkerStartTimestamp().IsValid(),
		Took:       between(m.GetExecutionStartTimestamp(), m.GetExecutionCompletedTimestamp()),
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

// addMeasured adds what this machine measured. If the engine does not report when it queued a
// run, the queue time is the part of the whole time in which no worker had the run, including
// the network's round trip.
func addMeasured(r *outcome.EngineRun, resp response) {
	m := resp.result.GetExecutionMetadata()
	r.Asked = resp.asked
	from, to := m.GetWorkerStartTimestamp(), m.GetWorkerCompletedTimestamp()
	if !r.QueueKnown && resp.asked > 0 && from.IsValid() && to.IsValid() {
		r.Queued, r.QueueKnown = max(0, resp.asked-between(from, to)), true
	}
}

// Larger figures are an engine's mistake, and sums over many cases would overflow.
const (
	spanMax   = 30 * 24 * time.Hour
	peakMax   = 1 << 40 // KiB
	workerMax = 200     // bytes of a worker's name
)

// credible returns 0 for a time that no command takes.
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

// between returns the time between two moments. It is never negative, although the clocks of
// several machines are involved.
func between(from, to *timestamppb.Timestamp) time.Duration {
	if !from.IsValid() || !to.IsValid() {
		return 0
	}
	return credible(to.AsTime().Sub(from.AsTime()))
}
