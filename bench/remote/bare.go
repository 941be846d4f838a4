package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// inFlightMax is how many requests of a kind muster makes at a time: the same number stands in
// regress/internal/exec/reapi/client, which nobody outside regress can ask.
const inFlightMax = 4

// bare is a client that asks for results and does nothing with them: the engine's ceiling.
type bare struct {
	conns []*grpc.ClientConn
	cache []repb.ActionCacheClient
	cas   repb.ContentAddressableStorageClient
}

// perStream is how many requests share a connection, as in muster: see inFlightMax.
const perStream = 100

func dialBare(addr string, jobs int) (*bare, error) {
	b := &bare{}
	for range (jobs + perStream - 1) / perStream {
		conn, err := dial(addr)
		if err != nil {
			return nil, err
		}
		b.conns, b.cache = append(b.conns, conn), append(b.cache, repb.NewActionCacheClient(conn))
	}
	b.cas = repb.NewContentAddressableStorageClient(b.conns[0])
	return b, nil
}

func (b *bare) close() (err error) {
	for _, c := range b.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}

// results asks for all results, jobs at a time, and returns how long that took. With trees it
// reads what says which files each result has as well, a hundred at once.
func (b *bare) results(ctx context.Context, actions []*repb.Digest, jobs int, trees bool) (time.Duration, error) {
	began := time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, jobs)
	for job := range jobs {
		all.Go(func() {
			reading := &reading{b: b}
			for errs[job] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(actions) {
					break
				}
				r, err := b.cache[job%len(b.cache)].GetActionResult(ctx, &repb.GetActionResultRequest{
					ActionDigest: actions[i], InlineStdout: true, InlineStderr: true,
				})
				if trees && err == nil {
					err = reading.add(ctx, r)
				}
				errs[job] = err
			}
			errs[job] = errors.Join(errs[job], reading.flush(ctx))
		})
	}
	all.Wait()
	return time.Since(began), errors.Join(errs...)
}

// reading gathers what one goroutine wants to read.
type reading struct {
	b    *bare
	want []*repb.Digest
}

const readsAtOnce = 100

func (r *reading) add(ctx context.Context, result *repb.ActionResult) error {
	for _, d := range result.GetOutputDirectories() {
		r.want = append(r.want, d.GetTreeDigest())
	}
	if len(r.want) < readsAtOnce {
		return nil
	}
	return r.flush(ctx)
}

func (r *reading) flush(ctx context.Context) error {
	if len(r.want) == 0 {
		return nil
	}
	reply, err := r.b.cas.BatchReadBlobs(ctx, &repb.BatchReadBlobsRequest{Digests: r.want})
	if err == nil && len(reply.GetResponses()) != len(r.want) {
		err = fmt.Errorf("%d of %d contents came", len(reply.GetResponses()), len(r.want))
	}
	r.want = r.want[:0]
	return err
}

// lookUp makes requests for what is missing again, as many at a time as muster does, and
// returns how long that took.
func (b *bare) lookUp(ctx context.Context, requests [][]byte) (time.Duration, error) {
	began := time.Now()
	var all errgroup.Group
	all.SetLimit(inFlightMax)
	for _, text := range requests {
		all.Go(func() error {
			var req repb.FindMissingBlobsRequest
			if err := proto.Unmarshal(text, &req); err != nil {
				return err
			}
			_, err := b.cas.FindMissingBlobs(ctx, &req)
			return err
		})
	}
	err := all.Wait()
	return time.Since(began), err
}

// countLookups is how many contents requests ask for.
func countLookups(requests [][]byte) (n int) {
	for _, text := range requests {
		var req repb.FindMissingBlobsRequest
		if proto.Unmarshal(text, &req) == nil {
			n += len(req.GetBlobDigests())
		}
	}
	return n
}
