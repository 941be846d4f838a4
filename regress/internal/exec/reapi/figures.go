package reapi

import (
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
)

// figures is what an engine says of where and how long a command ran. CPU and memory are
// in messages of some engines alone.
func figures(m *repb.ExecutedActionMetadata) (outcome.Cost, exec.Remote) {
	r := exec.Remote{
		Worker:    shortened(m.GetWorker()),
		Queued:    between(m.GetQueuedTimestamp(), m.GetWorkerStartTimestamp()),
		QueueTold: m.GetQueuedTimestamp().IsValid() && m.GetWorkerStartTimestamp().IsValid(),
		Ran:       between(m.GetExecutionStartTimestamp(), m.GetExecutionCompletedTimestamp()),
	}
	if r.Ran == 0 && m.GetVirtualExecutionDuration().IsValid() {
		r.Ran = credible(m.GetVirtualExecutionDuration().AsDuration())
	}
	cost := outcome.Cost{Wall: r.Ran}
	for _, extra := range m.GetAuxiliaryMetadata() {
		if cpu, peak, ok := usage(extra); ok {
			cost.CPU, cost.PeakRSS, r.Measured = cpu, peak, true
		}
	}
	return cost, r
}

// measured adds what was measured here. Where the engine does not say when it put a run into
// its queue, what no worker had of the time counts as that, and with it the way there and back.
func measured(r *exec.Remote, resp response) {
	m := resp.result.GetExecutionMetadata()
	r.Asked = resp.took
	from, to := m.GetWorkerStartTimestamp(), m.GetWorkerCompletedTimestamp()
	if !r.QueueTold && resp.took > 0 && from.IsValid() && to.IsValid() {
		r.Queued, r.QueueTold = max(0, resp.took-between(from, to)), true
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

// usage reads what Buildbarn and buildbox say of a command's resources: user and system time
// in fields 1 and 2, the largest resident size in field 3, in bytes or in KiB. Their
// messages are in no module of theirs that could be had without the rest.
func usage(extra *anypb.Any) (cpu time.Duration, peak int64, ok bool) {
	message := extra.GetValue()
	unit := uint64(1)
	switch extra.MessageName() {
	case "buildbarn.resourceusage.POSIXResourceUsage":
		unit = 1 << 10
	case "build.buildbox.ExecutionStatistics":
		message = field(message, 1).bytes
	default:
		return 0, 0, false
	}
	user, system := field(message, 1), field(message, 2)
	if user.bytes == nil && system.bytes == nil {
		return 0, 0, false
	}
	resident := field(message, 3).number / unit
	if user.duration() > spanMax || system.duration() > spanMax || resident > peakMax {
		return 0, 0, false
	}
	return user.duration() + system.duration(), int64(resident), true
}

// value is a field of a message that has no Go type here.
type value struct {
	bytes  []byte
	number uint64
}

// field is the last of a number in a message; of one that is damaged, what comes before that.
func field(message []byte, wanted protowire.Number) (found value) {
	_ = tree.Fields(message, func(field protowire.Number, b []byte, n uint64) error {
		if field == wanted {
			found = value{b, n}
		}
		return nil
	})
	return found
}

func (v value) duration() time.Duration {
	var d durationpb.Duration
	if proto.Unmarshal(v.bytes, &d) != nil || d.CheckValid() != nil {
		return 0
	}
	return max(0, d.AsDuration())
}
