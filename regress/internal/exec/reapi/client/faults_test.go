package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// weather fails requests at random moments, in all ways that may pass.
func weather(seed uint64, share float64) func(context.Context, reapitest.Call) error {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, 0))
	ways := []error{
		errUnavailable,
		status.Error(codes.ResourceExhausted, "later"),
		status.Error(codes.Aborted, "again"),
		status.Error(codes.Internal, "stream terminated by RST_STREAM"),
		status.Error(codes.Canceled, "by somebody between"),
	}
	return func(context.Context, reapitest.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if source.Float64() < share {
			return ways[source.IntN(len(ways))]
		}
		return nil
	}
}

// In any weather everything arrives as it was, and all actions have their results.
func TestWeather(t *testing.T) {
	for seed := range uint64(2) {
		r := newRig(t, reapitest.Options{Zstd: seed%2 == 1, BatchMax: 50_000}, client.Options{Attempts: 40})
		blobs := append(contents(60, 900), noise(1<<20+1), opened(noise(1<<20+2)))
		stormy := weather(seed, 0.08)
		r.storm(stormy)
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() { r.oneCase(i, blobs) })
		}
		group.Wait()
	}
}

// oneCase does all that a case needs of an engine.
func (r *rig) oneCase(i int, blobs []blob.Blob) {
	said := fmt.Sprintf("case %d", i)
	action := actionOf([]string{said}, emptyRoot())
	if err := r.Upload(r.Context(), append(action, blobs...)); err != nil {
		r.Error(err)
		return
	}
	response, err := r.Execute(r.Context(), client.Execution{Action: action[0].Digest, SkipCache: i%2 == 0})
	for n := 1; n < 3 && errors.As(err, new(*client.MissingError)); n++ { // as a caller does it
		response, err = r.Execute(r.Context(), client.Execution{Action: action[0].Digest, SkipCache: i%2 == 0})
	}
	if err != nil || string(response.Result.StdoutRaw) != said {
		r.Errorf("%s: %v, %v", said, response, err)
	}
	if small, err := r.Read(r.Context(), blobs[i].Digest); err != nil || !bytes.Equal(small, blobs[i].Bytes) {
		r.Errorf("read %d bytes, %v", len(small), err)
	}
	if i%4 > 0 {
		return // a large one takes long under the race detector
	}
	stream, err := r.Open(r.Context(), blobs[len(blobs)-1].Digest)
	if err != nil {
		r.Error(err)
		return
	}
	defer stream.Close()
	data, err := io.ReadAll(stream)
	if d := blob.Of(data).Digest; err != nil || d != blobs[len(blobs)-1].Digest {
		r.Errorf("read %d bytes, %v", len(data), err)
	}
}

// An engine that restarts while many wait for it costs nobody anything but time. What it
// lost is missing, and is sent again when the client has forgotten it.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, reapitest.Options{}, client.Options{Sleep: waiting})
		r.upload(contents(50, 100)...)
		r.stop()
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() { r.oneCase(i, contents(40, 200)) })
		}
		synctest.Wait() // they have failed, and wait
		r.restart()
		group.Wait()

		r.engine.Evict()
		if _, err := r.Execute(t.Context(), client.Execution{Action: actionOf([]string{"new"}, emptyRoot())[0].Digest}); err == nil {
			t.Error("an action was executed of which the engine has nothing")
		}
		r.Forget()
		r.upload(contents(50, 100)...)
	})
}
