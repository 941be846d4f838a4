package remotecache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/files"
	"muster/test/kits/enginetest"
)

// A client sends the beginning of large messages and then nothing. It holds at most its share of memory. It is told
// when to try again, and others are served meanwhile.
func TestStalledClient(t *testing.T) {
	r := newRig(t, files.Options{WaitMax: 500 * time.Millisecond})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const stalled = 3 // of 6 places
	ended := make(chan error, stalled)
	for range stalled {
		go func() {
			_, err := r.raw(ctx, batchUpdate, endless(announce(1<<20, "\x12")))
			ended <- err
		}()
	}
	data := enginetest.Content(1, 100_000)
	batch := &repb.BatchUpdateBlobsRequest{Requests: []*repb.BatchUpdateBlobsRequest_Request{{Digest: digestOf(data), Data: data}}}
	ask := func() error {
		_, err := r.cas.BatchUpdateBlobs(t.Context(), batch)
		return err
	}
	err := ask()
	for status.Code(err) != codes.Unavailable {
		select {
		case err := <-ended:
			t.Fatalf("a stalled request ended: %v", err)
		default:
			err = ask()
		}
	}
	details := status.Convert(err).Details()
	if len(details) != 1 {
		t.Fatal(err, details)
	}
	if info, ok := details[0].(*errdetails.RetryInfo); !ok || info.RetryDelay.AsDuration() != time.Second {
		t.Error(details)
	}
	r.from("127.0.0.2").put("", data)
	r.missing("", digestOf(data)) // small messages have places of their own
	if _, err := r.write(pieces(uploadOf("", digestOf(data[1:])), data[1:], 1<<20)...); err != nil {
		t.Error(err)
	}
	stop()
	for range stalled {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a stalled request: %v", err)
		}
	}
	for err := ask(); err != nil; err = ask() { // the memory comes back
		r.wants("meanwhile", err, codes.Unavailable)
	}
}
