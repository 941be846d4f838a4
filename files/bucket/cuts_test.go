package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/files/bucket"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// A cutter forwards connections to an object store, and cuts each of them after a random number
// of bytes in one direction.
type cutter struct {
	net.Listener
	store string
	cuts  atomic.Int64
}

func newCutter(t *testing.T, url string) *cutter {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, store: strings.TrimPrefix(url, "http://")}
	var all sync.WaitGroup
	all.Go(func() {
		for n := uint64(0); ; n++ {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.forward(t.Context(), client, rand.New(rand.NewPCG(n, 27))) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return c
}

func (c *cutter) forward(ctx context.Context, client net.Conn, random *rand.Rand) {
	defer client.Close()
	store, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.store)
	if err != nil {
		return
	}
	end := sync.OnceFunc(func() { client.Close(); store.Close() })
	defer context.AfterFunc(ctx, end)()
	most := []int64{1 << 40, 1 << 40}                                // of a request's bytes, and of an answer's
	most[random.IntN(2)] = random.Int64N(1 << (6 + random.IntN(20))) // from within a header to after a part
	var both sync.WaitGroup
	pass := func(to, from net.Conn, most int64) {
		if n, _ := io.CopyN(to, from, most); n == most { // else one of them ended
			c.cuts.Add(1)
		}
		end()
	}
	both.Go(func() { pass(store, client, most[0]) })
	both.Go(func() { pass(client, store, most[1]) })
	both.Wait()
}

// Connections to the object store are cut at random. What was acknowledged is there, nothing is
// torn, and after each failure a client may try again.
func TestCutConnections(t *testing.T) {
	buckettest.Setenv(t)
	for name, start := range map[string]func(t *testing.T) string{
		"memory":    func(t *testing.T) string { return buckettest.Start(t).URL },
		"versitygw": func(t *testing.T) string { return buckettest.Run(t, buckettest.Versity).URL },
	} {
		t.Run(name, func(t *testing.T) {
			url := start(t)
			direct := openAt(t, bucket.Options{Endpoint: url, Bucket: buckettest.Bucket})
			c := newCutter(t, url)
			s, err := bucket.Open(bucket.Options{Endpoint: "http://" + c.Addr().String(), Bucket: buckettest.Bucket})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var wait sync.WaitGroup
			var done, failed atomic.Int64
			for who := range 6 {
				wait.Go(func() {
					for i := range 20 {
						name, data := fmt.Sprint(who, "/", i), enginetest.Content(who*100+i, []int{100, 50_000, 400_000, partSize + 5}[i%4])
						_, err := s.Put(t.Context(), name, strings.NewReader(string(data)), int64(len(data)), nil)
						got, readErr := enginetest.Get(t.Context(), s, name)
						kept, keptErr := enginetest.Get(t.Context(), direct, name)
						switch {
						case err != nil && !errors.Is(err, fileio.ErrBusy), readErr != nil && !strings.Contains(readErr.Error(), "object store") && !errors.Is(readErr, fs.ErrNotExist):
							t.Errorf("%s: put %v, get %v", name, err, readErr)
						case err == nil && keptErr != nil, err != nil && keptErr != nil && !errors.Is(keptErr, fs.ErrNotExist):
							t.Errorf("%s: put %v, but it has %v", name, err, keptErr)
						case keptErr == nil && string(kept) != string(data), readErr == nil && string(got) != string(data):
							t.Errorf("%s has other bytes: %d and %d of %d", name, len(kept), len(got), len(data))
						case err != nil || readErr != nil:
							failed.Add(1)
						default:
							done.Add(1)
						}
					}
				})
			}
			wait.Wait()
			t.Logf("%d done, %d failed, %d cuts", done.Load(), failed.Load(), c.cuts.Load())
			if done.Load() == 0 || c.cuts.Load() < 50 {
				t.Error("too few cuts, or too many")
			}
		})
	}
}
