package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"

	"muster/regress"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

func TestFindMissing(t *testing.T) {
	r := newRig(t, reapitest.Options{BatchMax: 4096}, client.Options{})
	blobs := contents(200, 10)
	var ds, want []blob.Digest
	for i, b := range blobs {
		if ds = append(ds, b.Digest); i%3 == 0 {
			r.engine.Put(b.Bytes)
		} else {
			want = append(want, b.Digest)
		}
	}
	got, err := r.FindMissing(t.Context(), ds)
	r.must(err)
	if !slices.Equal(got, want) {
		t.Errorf("%d missing, want %d", len(got), len(want))
	}
	if n := r.engine.Calls("FindMissingBlobs"); n < 2 || n > 12 {
		t.Errorf("%d requests for 200 digests at a limit of 4096 bytes", n)
	}
}

// What is there is not sent, what was sent is remembered, and what is forgotten is asked for.
func TestUpload(t *testing.T) {
	r := newRig(t, reapitest.Options{BatchMax: 10_000}, client.Options{})
	blobs := append(contents(100, 700), noise(3<<20), opened(noise(2<<20)), opened(contents(1, 300)[0]), blob.Of(nil))
	for _, b := range blobs[:50] {
		r.engine.Put(b.Bytes)
	}
	r.upload(blobs...)
	sent := r.engine.Calls("BatchUpdateBlobs")
	if sent < 4 || sent > 10 || r.engine.Calls("Write") != 2 {
		t.Errorf("%d batches, %d streams", sent, r.engine.Calls("Write"))
	}
	asked := r.engine.Calls("FindMissingBlobs")
	r.upload(blobs...)
	if n := r.engine.Calls("FindMissingBlobs"); n != asked || r.engine.Calls("BatchUpdateBlobs") != sent {
		t.Error("what was known was asked for")
	}
	r.engine.Evict()
	r.Forget(blobs[0].Digest, blobs[100].Digest)
	r.must(r.Upload(t.Context(), blobs))
	if got := r.engine.Calls("Write"); got != 3 {
		t.Errorf("%d streams", got)
	}
	r.Forget()
	r.upload(blobs...)
}

// The memory of what is there is bounded, and what it lost costs a question.
func TestUploadRemembersSome(t *testing.T) {
	r := newRig(t, reapitest.Options{}, client.Options{Remember: 20})
	blobs := contents(100, 50)
	for _, b := range blobs { // together they come in no order
		r.upload(b)
	}
	asked, sent := r.engine.Calls("FindMissingBlobs"), r.engine.Calls("BatchUpdateBlobs")
	r.upload(blobs[99])
	if n := r.engine.Calls("FindMissingBlobs"); n != asked {
		t.Error("the latest is forgotten")
	}
	r.upload(blobs[0])
	if n := r.engine.Calls("FindMissingBlobs"); n != asked+1 || r.engine.Calls("BatchUpdateBlobs") != sent {
		t.Errorf("%d questions for one that is forgotten", n-asked)
	}
}

func TestUploadCompressed(t *testing.T) {
	r := newRig(t, reapitest.Options{Zstd: true}, client.Options{Instance: "a/b"})
	blobs := append(contents(3, 5000), contents(1, 1<<20+1)[0], noise(1<<20+1))
	r.upload(blobs...)
	for _, b := range blobs {
		r.read(b)
	}
}

// Many who ask for the same have it sent once.
func TestUploadOnce(t *testing.T) {
	r := newRig(t, reapitest.Options{}, client.Options{})
	blobs := append(contents(20, 100), noise(2<<20), noise(2<<20+1))
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := r.Upload(t.Context(), blobs); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if b, s := r.engine.Calls("BatchUpdateBlobs"), r.engine.Calls("Write"); s != 2 || b > 20 {
		t.Errorf("%d batches, %d streams for 2 large contents", b, s)
	}
}

// What many ask while the engine is busy goes in few requests.
func TestFewRequests(t *testing.T) {
	const callers = 500
	free, waiting := make(chan struct{}), make(chan struct{}, callers)
	r := newRig(t, reapitest.Options{Fault: func(_ context.Context, c reapitest.Call) error {
		if c.Method == "FindMissingBlobs" && c.Moment == reapitest.Begin {
			waiting <- struct{}{}
			<-free
		}
		return nil
	}}, client.Options{})
	blobs := contents(callers, 50)
	var group sync.WaitGroup
	for i := range blobs {
		group.Go(func() {
			if err := r.Upload(t.Context(), blobs[i:i+1]); err != nil {
				t.Error(err)
			}
		})
	}
	<-waiting // alone: nobody waits for company
	close(free)
	group.Wait()
	r.upload(blobs...)
	if n := r.engine.Calls("FindMissingBlobs") + r.engine.Calls("BatchUpdateBlobs"); n > callers {
		t.Errorf("%d requests for %d callers", n, callers)
	}
}

// Who gives up does not take others along, and what is in a batch by then is not sent again.
func TestUploadGivenUp(t *testing.T) {
	for _, method := range []string{"FindMissingBlobs", "BatchUpdateBlobs"} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			r := newRig(t, reapitest.Options{Fault: func(_ context.Context, c reapitest.Call) error {
				if c.Method == method && c.Moment == reapitest.Begin {
					<-free
				}
				return nil
			}}, client.Options{})
			b := contents(1, 100)
			ctx, cancel := context.WithCancel(t.Context())
			first, second := make(chan error), make(chan error)
			go func() { first <- r.Upload(ctx, b) }()
			synctest.Wait()
			go func() { second <- r.Upload(t.Context(), b) }()
			synctest.Wait()
			cancel()
			if err := <-first; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			synctest.Wait()
			close(free)
			if err := <-second; err != nil {
				t.Error(err)
			}
			r.upload(b...)
			if n := r.engine.Calls("BatchUpdateBlobs"); n != 1 {
				t.Errorf("%s: sent %d times", method, n)
			}
		})
	}
}

// A stream that breaks is sent again.
func TestUploadStartsAnew(t *testing.T) {
	for _, zip := range []bool{false, true} {
		newRig(t, reapitest.Options{Zstd: zip, Fault: on("Write", reapitest.Received, codes.Unavailable, 1, 2)}, client.Options{}).upload(noise(3 << 20))
	}
}

func TestUploadFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     reapitest.Options
		b     blob.Blob
		calls int // of the method
		want  string
	}{
		{"BatchUpdateBlobs", reapitest.Options{Fault: on("BatchUpdateBlobs", reapitest.Begin, codes.PermissionDenied, 1)}, noise(10), 1, "PermissionDenied: as the test wants it"},
		{"FindMissingBlobs", reapitest.Options{Fault: on("FindMissingBlobs", reapitest.End, codes.InvalidArgument, 1)}, noise(10), 1, "InvalidArgument"},
		{"Write", reapitest.Options{Fault: on("Write", reapitest.Begin, codes.Unauthenticated, 1)}, noise(2 << 20), 1, "it wants a token"},
		{"Write", reapitest.Options{Fault: on("Write", reapitest.Begin, codes.Unavailable, 1, 2, 3, 4)}, noise(2 << 20), 3, "Unavailable"},
		{"BatchUpdateBlobs", reapitest.Options{}, blob.Blob{Digest: noise(10).Digest, Bytes: []byte("other byte")}, 1, "another digest"},
		{"Write", reapitest.Options{}, blob.Blob{Digest: noise(2 << 20).Digest, Bytes: make([]byte, 2<<20)}, 1, "another digest"},
		{"BatchUpdateBlobs", reapitest.Options{}, blob.Blob{Digest: noise(10).Digest, Bytes: []byte("short")}, 0, "did it change"},
		{"Write", reapitest.Options{Can: func(c *repb.ServerCapabilities) { c.CacheCapabilities.MaxCasBlobSizeBytes = 1 << 20 }}, noise(2 << 20), 0, "takes contents of up to 1,048,576 bytes"},
		{"BatchUpdateBlobs", reapitest.Options{Can: func(c *repb.ServerCapabilities) { c.CacheCapabilities.MaxCasBlobSizeBytes = 1 << 10 }}, noise(2 << 10), 0, "takes contents of up to 1,024 bytes"},
	} {
		r := newRig(t, c.o, client.Options{Attempts: 3})
		err := r.Upload(t.Context(), []blob.Blob{c.b})
		if regress.ClassOf(err) != regress.Environment || !strings.Contains(fmt.Sprint(err), c.want) || r.engine.Calls(c.name) != c.calls {
			t.Errorf("%s: %d calls, %v, want %q", c.name, r.engine.Calls(c.name), err, c.want)
		}
		// What failed is not taken to be there.
		if err := r.Upload(t.Context(), contents(1, 20)); err != nil && c.calls > 0 {
			t.Error(err)
		}
	}
}
