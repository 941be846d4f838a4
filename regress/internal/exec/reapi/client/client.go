// Package client is a connection to an engine of the Remote Execution API, version 2: its
// capabilities, content store and action cache, and executions. It keeps to the engine's limits
// and combines the requests of many goroutines. It continues after temporary failures: a server
// that restarts, or a stream that breaks.
//
// It must not know of cases and outcomes, nor judge the result of an action.
package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"muster/internal/readable"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// Bounds of what one client does at once, for all callers together.
const (
	bufferedMax       = 32 << 20 // bytes of small contents that wait to be sent
	streamsMax        = 8        // contents that are sent one by one
	inFlightMax       = 4        // requests of one kind in flight, each a batch
	executionsPerConn = 100      // executions on one connection: the smallest limit of usual servers

)

// Client may be used by many goroutines at once. Close it at the end.
type Client struct {
	o     Options
	limit limits

	noResult error // of an execution that took too long, made once: an error costs more than a request
	readOnly bool  // the service takes no results of clients

	conns      []*grpc.ClientConn // the first is for contents, the others for executions
	cas        repb.ContentAddressableStorageClient
	byteStream bytestream.ByteStreamClient
	cache      repb.ActionCacheClient

	life    context.Context // ends with Close; for work that serves several callers
	end     context.CancelFunc
	working sync.WaitGroup

	traffic   traffic
	nextConn  atomic.Uint32 // index of the connection for the next execution
	successes atomic.Int64  // requests of any kind that succeeded
	executed  atomic.Int64  // executions that have a result
	away      atomic.Bool   // a caller waited for the engine in vain, and nothing succeeded since
	noted     atomic.Bool   // the user was told that muster waits for the engine

	encoder  *zstd.Encoder // of batches; nil if the engine accepts none
	decoder  *zstd.Decoder
	known    *knownBlobs
	buffered *semaphore.Weighted
	streams  *semaphore.Weighted
	queries  batcher[*batchQuery]
	uploads  batcher[*batchUpload]
	reads    batcher[*batchRead]
}

// Dial connects, and asks for the engine's capabilities. An error of class Environment says why
// the engine cannot be reached or what it lacks. An error of class Input is about o.
func Dial(ctx context.Context, o Options) (*Client, error) {
	failFast := o.Wait == 0
	o = o.withDefaults()
	at, err := o.address()
	if err != nil {
		return nil, err
	}
	c := &Client{
		o: o, known: newKnownBlobs(o.Remember),
		buffered: semaphore.NewWeighted(bufferedMax), streams: semaphore.NewWeighted(streamsMax),
	}
	c.noResult = c.failed(executing, fmt.Errorf("no result within %s", readable.Duration(o.ExecutionTimeout)))
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.connect(at); err != nil {
		c.Close()
		return nil, err
	}
	if err := c.learn(ctx, failFast); err != nil {
		c.Close()
		return nil, err
	}
	if c.limit.zstdBatch {
		c.encoder, c.decoder = newEncoder(nil), newDecoder(nil)
	}
	c.queries = batcher[*batchQuery]{send: c.queryBatch, cost: batchQueryCost, room: c.limit.message, inFlightMax: inFlightMax, working: &c.working}
	c.uploads = batcher[*batchUpload]{send: c.updateBatch, cost: batchUploadCost, room: c.limit.batch, inFlightMax: inFlightMax, working: &c.working}
	c.reads = batcher[*batchRead]{send: c.readBatch, cost: batchReadCost, room: c.limit.batch, inFlightMax: inFlightMax, working: &c.working}
	return c, nil
}

func (c *Client) connect(at address) error {
	options, err := c.o.dialOptions(at)
	if err != nil {
		return err
	}
	options = append(options, grpc.WithStatsHandler(&c.traffic))
	for range 1 + (c.o.Jobs+executionsPerConn-1)/executionsPerConn {
		conn, err := grpc.NewClient(at.target, options...)
		if err != nil {
			return c.failed(connecting, err)
		}
		c.conns = append(c.conns, conn)
	}
	c.cas = repb.NewContentAddressableStorageClient(c.conns[0])
	c.byteStream = bytestream.NewByteStreamClient(c.conns[0])
	c.cache = repb.NewActionCacheClient(c.conns[0])
	return nil
}

// Close ends everything in progress and closes the connections.
func (c *Client) Close() {
	c.end()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.working.Wait()
}

// Forget drops what the client remembers of the engine's store: the named contents, or all if
// none is named. The next Upload asks the engine again.
func (c *Client) Forget(ds ...blob.Digest) { c.known.forget(ds) }

// forExecution takes the connections in turn.
func (c *Client) forExecution() *grpc.ClientConn {
	return c.conns[1+int(c.nextConn.Add(1)%uint32(len(c.conns)-1))]
}

// messageRoom is the room in a message, in bytes, if the engine states no limit: gRPC's own
// limit, less what surrounds the contents.
const messageRoom = 4<<20 - 64<<10

// smallMax is the size in bytes above which a content is sent by itself, because it nearly
// fills a message.
const smallMax = 1 << 20

// limits are the engine's limits for its clients.
type limits struct {
	message int64 // bytes of digests in one request
	batch   int64 // bytes of contents in one request, with their digests
	small   int64 // bytes of a content that may go into a batch
	blob    int64 // bytes of a content; 0 = no limit

	zstdStream, zstdBatch bool
}

// helloMax is the shortest time to wait for an engine that accepts a connection and says
// nothing.
const helloMax = 10 * time.Second

func (c *Client) learn(ctx context.Context, failFast bool) error {
	var caps *repb.ServerCapabilities
	r, within := c.retries(), max(c.o.Wait, helloMax)
	if failFast {
		r.max, within = min(r.max, 4), helloMax // a wrong address is detected within a second
	}
	err := r.do(ctx, learning, func() (err error) {
		end := time.Now().Add(within)
		ctx, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		caps, err = repb.NewCapabilitiesClient(c.conns[0]).GetCapabilities(ctx, &repb.GetCapabilitiesRequest{InstanceName: c.o.Instance})
		if ctx.Err() != nil || !time.Now().Before(end) { // gRPC's own clock may expire first
			r.max = 1 // all its time is over
		}
		return err
	})
	if err != nil {
		return err
	}
	if lack := c.o.lacks(caps); lack != "" {
		return fault.Environmentf("engine %s %s", c.o.URL, lack)
	}
	c.limit = limitsOf(caps.GetCacheCapabilities())
	c.readOnly = !caps.GetCacheCapabilities().GetActionCacheUpdateCapabilities().GetUpdateEnabled()
	return nil
}

// lacks names the required features that an engine does not have, or returns "".
func (o Options) lacks(caps *repb.ServerCapabilities) string {
	cache, execution := caps.GetCacheCapabilities(), caps.GetExecutionCapabilities()
	functions := execution.GetDigestFunctions()
	if o.CacheOnly {
		functions = cache.GetDigestFunctions()
	} else if len(functions) == 0 {
		functions = []repb.DigestFunction_Value{execution.GetDigestFunction()}
	}
	low, high := caps.GetLowApiVersion(), caps.GetHighApiVersion()
	switch {
	case high != nil && high.Major < 2 || low != nil && low.Major > 2:
		return "speaks another version of the Remote Execution API than 2"
	case !o.CacheOnly && high.GetMajor() == 2 && high.GetMinor() == 0:
		return "speaks version 2.0 of the Remote Execution API, and muster needs 2.1 or later: use a newer engine"
	case !o.CacheOnly && !execution.GetExecEnabled():
		return "does not execute actions, it only stores contents" + o.perhapsElsewhere()
	case cache == nil:
		return "has no content store at this address, which muster wants beside executions"
	case !slices.Contains(cache.GetDigestFunctions(), repb.DigestFunction_SHA256) || !slices.Contains(functions, repb.DigestFunction_SHA256):
		return "does not take SHA-256 digests, and muster has no others (it stores by " + functionNames(cache.GetDigestFunctions()) + " and executes by " + functionNames(functions) + ")"
	case !takesPriority(execution.GetExecutionPriorityCapabilities(), o.Priority):
		return fmt.Sprintf("does not take this priority: [engine] priority %d", o.Priority)
	}
	return ""
}

func (o Options) perhapsElsewhere() string {
	if o.Instance == "" {
		return ": name one with workers, or perhaps another of its instances (the key instance of [engine])"
	}
	return " under the instance name " + o.Instance + " (the key instance of [engine])"
}

func functionNames(functions []repb.DigestFunction_Value) string {
	var names []string
	for _, f := range functions {
		names = append(names, f.String())
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

func takesPriority(caps *repb.PriorityCapabilities, priority int32) bool {
	ranges := caps.GetPriorities()
	return priority == 0 || len(ranges) == 0 || slices.ContainsFunc(ranges, func(r *repb.PriorityCapabilities_PriorityRange) bool {
		return r.MinPriority <= priority && priority <= r.MaxPriority
	})
}

func limitsOf(caps *repb.CacheCapabilities) limits {
	room := int64(messageRoom)
	if stated := caps.GetMaxBatchTotalSizeBytes(); stated > 0 {
		room = min(room, stated)
	}
	small, most := min(room-aroundBlob, smallMax), caps.GetMaxCasBlobSizeBytes()
	if most > 0 {
		small = min(small, most) // larger contents are refused by the code for large contents
	}
	return limits{
		message: room, batch: room, small: small, blob: most,
		zstdStream: slices.Contains(caps.GetSupportedCompressors(), repb.Compressor_ZSTD),
		zstdBatch:  slices.Contains(caps.GetSupportedBatchUpdateCompressors(), repb.Compressor_ZSTD),
	}
}

// traffic counts the bytes of messages and headers as gRPC puts them on the network.
type traffic struct{ sent, received atomic.Int64 }

var _ stats.Handler = (*traffic)(nil)

// Traffic returns the bytes that were sent to the engine and received from it so far.
func (c *Client) Traffic() (sent, received int64) {
	return c.traffic.sent.Load(), c.traffic.received.Load()
}

// HandleRPC implements stats.Handler. gRPC does not measure headers that are sent.
func (t *traffic) HandleRPC(_ context.Context, one stats.RPCStats) {
	switch one := one.(type) {
	case *stats.OutPayload:
		t.sent.Add(int64(one.WireLength))
	case *stats.InPayload:
		t.received.Add(int64(one.WireLength))
	case *stats.InHeader:
		t.received.Add(int64(one.WireLength))
	case *stats.InTrailer:
		t.received.Add(int64(one.WireLength))
	}
}

// TagRPC, TagConn and HandleConn implement stats.Handler.
func (*traffic) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*traffic) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*traffic) HandleConn(context.Context, stats.ConnStats)                       {}
