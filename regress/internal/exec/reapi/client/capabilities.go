package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/fault"
)

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
	high := caps.GetHighApiVersion()
	c.before21 = high.GetMajor() == 2 && high.GetMinor() == 0
	return nil
}

// lacks names the required features that an engine does not have, or returns "".
func (o Options) lacks(caps *repb.ServerCapabilities) string {
	cache, execution := caps.GetCacheCapabilities(), caps.GetExecutionCapabilities()
	functions := execution.GetDigestFunctions()
	if len(functions) == 0 {
		functions = []repb.DigestFunction_Value{execution.GetDigestFunction()}
	}
	low, high := caps.GetLowApiVersion(), caps.GetHighApiVersion()
	switch {
	case high != nil && high.Major < 2 || low != nil && low.Major > 2:
		return "speaks another version of the Remote Execution API than 2"
	case !execution.GetExecEnabled():
		return "does not execute actions, it only stores contents" + o.perhapsElsewhere()
	case cache == nil:
		return "has no content store at this address, which muster wants beside executions"
	case !slices.Contains(cache.GetDigestFunctions(), repb.DigestFunction_SHA256) || !slices.Contains(functions, repb.DigestFunction_SHA256):
		return "does not take SHA-256 digests, and muster has no others (it stores by " + functionNames(cache.GetDigestFunctions()) + " and executes by " + functionNames(functions) + ")"
	case !takesPriority(execution.GetExecutionPriorityCapabilities(), o.Priority):
		return fmt.Sprintf("does not take this priority: --remote-priority %d", o.Priority)
	}
	return ""
}

func (o Options) perhapsElsewhere() string {
	if o.Instance == "" {
		return ": name one with workers, or perhaps another of its instances (--instance)"
	}
	return " under the instance name " + o.Instance + " (--instance)"
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
