package reapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// contentStore reads from an engine's CAS: small messages whole, contents as streams. Both
// functions are required. Several goroutines may call them.
type contentStore struct {
	read func(context.Context, blob.Digest) ([]byte, error)
	open func(context.Context, blob.Digest) (io.ReadCloser, error)
}

// resultOf returns the run's outcome as a lane would return it for the same case. It downloads
// nothing but the messages of changed folders. Contents are opened later by their digests, with
// ctx. Errors are of class Environment, and wrap the reader's error.
func (a *action) resultOf(ctx context.Context, resp response, store contentStore) (*exec.Result, error) {
	c := collector{action: a, ctx: ctx, store: store, budget: a.outputMax}
	ending, err := c.process(resp)
	if err == nil {
		err = checkStarted(a.program, resp.result)
	}
	if err == nil {
		err = c.files(resp)
	}
	switch {
	case err != nil && regress.ClassOf(err) != regress.None:
		return nil, err
	case err != nil:
		return nil, fault.Environmentf("result of %s: %w", name.Print(a.job.Source.Name), err)
	}
	if c.exceeded { // also for a run that timed out: a lane would have ended it before
		ending = regress.Ending{Kind: regress.OutputLimit}
	}
	cost, remote := fromMetadata(resp.result.GetExecutionMetadata())
	if remote.Cached = resp.cached; !resp.cached {
		addMeasured(&remote, resp)
	}
	r := exec.NewResult(outcome.Outcome{Ending: ending, ByStatus: outcome.HasTwoReadings(ending), Parts: c.parts}, cost, exec.NoLane, c.contents, nil)
	r.Engine = &remote
	return r, nil
}

// collector builds a result from a response, part by part in their final order.
type collector struct {
	*action
	ctx      context.Context
	store    contentStore
	budget   int64 // bytes that the case may still leave
	exceeded bool  // it left more
	parts    []outcome.Part
	contents []exec.Content
}

// process adds the results of the process itself: its ending, its output and its error output.
func (c *collector) process(resp response) (regress.Ending, error) {
	ending, err := c.ending(resp)
	if err == nil {
		err = c.stream(outcome.Stdout, resp.result.GetStdoutRaw(), resp.result.GetStdoutDigest())
	}
	if err == nil {
		err = c.stream(outcome.Stderr, resp.result.GetStderrRaw(), resp.result.GetStderrDigest())
	}
	return ending, err
}

// stream adds standard output or error. It is in the response itself, or is named by its
// digest.
func (c *collector) stream(place outcome.Place, raw []byte, d *repb.Digest) error {
	l := tree.Output{Part: outcome.Part{Key: outcome.Key{Place: place}}, Inline: raw, Inlined: true}
	own := blob.Of(raw).Digest
	l.Size, l.Digest = own.Size, own.Hash
	if d != nil {
		digest, err := blob.FromProto(d)
		switch {
		case err != nil:
			return err
		case len(raw) > 0 && own != digest:
			return errors.New("a stream does not match its digest")
		}
		l.Size, l.Digest, l.Inlined = digest.Size, digest.Hash, len(raw) > 0 || digest.Size == 0
	}
	if l.Size > c.budget { // an outcome always has both streams
		c.budget, c.exceeded = 0, true
		l = tree.Output{Part: outcome.Part{Key: l.Key, Digest: outcome.Of(nil)}, Inlined: true}
	}
	c.add(l)
	return nil
}

func (c *collector) files(resp response) error {
	compare := tree.Outputs{Before: c.work, Whole: c.whole, Paths: c.outputs, Read: c.store.read}
	left, err := compare.Of(c.ctx, resp.result)
	switch {
	case errors.Is(err, tree.ErrTooMany):
		c.exceeded = true
		return nil
	case errors.Is(err, tree.ErrNoFolder) && resp.timedOut:
		return nil // engines may drop all that it left
	case errors.Is(err, tree.ErrNoFolder):
		return fault.Environmentf("%s: the engine does not give back the whole work folder; name what the command writes by the key output of [engine]", name.Print(c.job.Source.Name))
	case err != nil:
		return err
	}
	for _, l := range left {
		if c.counts != nil && !c.counts(l.Path) {
			continue
		}
		if l.Form == outcome.Regular && l.Size > c.budget {
			c.budget, c.exceeded = 0, true
			continue
		}
		c.add(l)
	}
	return nil
}

func (c *collector) add(l tree.Output) {
	if l.Form == outcome.Regular {
		c.budget -= l.Size
	}
	kept := exec.Content{Key: l.Key, Bytes: l.Inline}
	if !l.Inlined {
		digest := l.Blob()
		kept.Bytes, kept.Opener = nil, func() (io.ReadCloser, error) { return c.store.open(c.ctx, digest) }
	}
	c.parts, c.contents = append(c.parts, l.Part), append(c.contents, kept)
}

// response is the result of an action: an ExecuteResponse, or an ActionResult from the engine's
// cache.
type response struct {
	result   *repb.ActionResult
	timedOut bool // the engine ended it at the action's timeout
	cached   bool
	asked    time.Duration // time from the request to the result of an execution; 0 = not known
}

// responseOf extracts a response from a message. A message without the command's result is an
// error of class Environment.
func responseOf(message *repb.ExecuteResponse) (response, error) {
	resp := response{result: message.GetResult(), cached: message.GetCachedResult()}
	switch code := codes.Code(message.GetStatus().GetCode()); {
	case code == codes.DeadlineExceeded && resp.result != nil:
		resp.timedOut = true
	case code != codes.OK:
		return resp, fault.Environmentf("the engine did not run it: %v: %s", code, name.Print(message.GetStatus().GetMessage()))
	case resp.result == nil:
		return resp, fault.Environmentf("the engine reports that the case ran, but sends no result")
	}
	return resp, nil
}

// ending returns how the command ended. The API only has an exit status. If a shell would make
// that status of a signal, ending returns the signal. It keeps the status of a command that runs
// in a shell, because the shell reports a signal within its script in this way.
func (a *action) ending(resp response) (regress.Ending, error) {
	code := int(resp.result.GetExitCode())
	signal, signalled := outcome.SignalOf(code)
	switch {
	case resp.timedOut:
		return regress.Ending{Kind: regress.TimedOut}, nil
	case code < 0:
		return regress.Ending{}, fault.Environmentf("%s: the engine reports exit status %d, which no command has: the run is incomplete", name.Print(a.job.Source.Name), code)
	case signalled && !a.job.Command.Shell:
		return regress.Ending{Kind: regress.Signalled, Code: signal}, nil
	}
	return regress.Ending{Kind: regress.Exited, Code: code}, nil
}

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

// usage reads what Buildbarn and buildbox report of a command's resources: user and system time
// in fields 1 and 2, and the largest resident size in field 3, in bytes or in KiB. Their
// messages are in no Go module that comes without the rest of the engine.
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

// field returns the last occurrence of a number in a message. If the message is damaged, it
// returns the last one before the damage.
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

// missesMax is the number of lookups in a row without a hit after which lookups stop. A new
// tool has no cached results, and Execute looks in the cache anyway.
const missesMax = 32

// lookupPolicy decides whether to look up an action's result before uploading what an execution
// needs. Lookups stop after many misses. They start again when the engine answers an execution
// from its cache. So a run without hits makes one request less for each case, and a run of hits
// alone uploads nothing.
type lookupPolicy struct{ misses atomic.Int64 }

func (p *lookupPolicy) worthwhile() bool { return p.misses.Load() < missesMax }

func (p *lookupPolicy) record(hit bool) {
	if hit {
		p.misses.Store(0)
	} else {
		p.misses.Add(1)
	}
}
