// Package client is a connection to an engine of the Remote Execution API, version 2: its
// capabilities, content store and action cache, and executions. It keeps to the engine's limits
// and combines the requests of many goroutines. It continues after temporary failures: a server
// that restarts, or a stream that breaks.
//
// It must not know of cases and outcomes, nor judge the result of an action.
package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"

	"muster/regress/internal/exec/reapi/blob"
)

// Bounds of what one client does at once, for all callers together.
const (
	bufferedMax       = 32 << 20 // bytes of small contents that wait to be sent
	streamsMax        = 8        // contents that are sent one by one
	inFlightMax       = 4        // requests of one kind in flight, each a batch
	executionsPerConn = 100      // executions on one connection: the smallest limit of usual servers

	resultMax       = 4 << 20   // bytes of a result: one for each execution may arrive at once
	largeResultsMax = 4         // larger results at once, each of up to messageMax
	largeReadsMax   = 128 << 20 // bytes of large contents that are read whole
)

// Client may be used by many goroutines at once. Close it at the end.
type Client struct {
	o     Options
	limit limits

	before21 bool // the engine knows no version after 2.0

	conns      []*grpc.ClientConn // the first is for contents, the others for executions
	cas        repb.ContentAddressableStorageClient
	byteStream bytestream.ByteStreamClient
	cache      repb.ActionCacheClient

	life    context.Context // ends with Close; for work that serves several callers
	end     context.CancelFunc
	working sync.WaitGroup

	traffic      traffic
	nextConn     atomic.Uint32 // index of the connection for the next execution
	successes    atomic.Int64  // requests of any kind that succeeded
	executed     atomic.Int64  // executions that have a result
	cannotCancel atomic.Bool   // the engine does not cancel executions
	namesAtOnce  atomic.Bool   // the engine names executions before they run
	away         atomic.Bool   // a caller waited for the engine in vain, and nothing succeeded since
	noted        atomic.Bool   // the user was told that muster waits for the engine

	encoder      *zstd.Encoder // of batches; nil if the engine accepts none
	decoder      *zstd.Decoder
	known        *knownBlobs
	buffered     *semaphore.Weighted
	streams      *semaphore.Weighted
	largeResults *semaphore.Weighted
	largeReads   *semaphore.Weighted // in bytes
	queries      batcher[*batchQuery]
	uploads      batcher[*batchUpload]
	reads        batcher[*batchRead]
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
		largeResults: semaphore.NewWeighted(largeResultsMax), largeReads: semaphore.NewWeighted(largeReadsMax),
	}
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

// Before21 reports whether the engine does not know output paths, which came with version 2.1.
func (c *Client) Before21() bool { return c.before21 }

// Forget drops what the client remembers of the engine's store: the named contents, or all if
// none is named. The next Upload asks the engine again.
func (c *Client) Forget(ds ...blob.Digest) { c.known.forget(ds) }

// Pause waits as between attempts.
func (c *Client) Pause(ctx context.Context, d time.Duration) error { return c.o.Sleep(ctx, d) }

// forExecution takes the connections in turn.
func (c *Client) forExecution() *grpc.ClientConn {
	return c.conns[1+int(c.nextConn.Add(1)%uint32(len(c.conns)-1))]
}
