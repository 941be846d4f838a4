package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// rig is a client and its engine, without a network and without waiting.
type rig struct {
	*testing.T
	engine *reapitest.Engine
	*client.Client

	mu    sync.Mutex
	slept []time.Duration
	conns []net.Conn
	dial  func(context.Context, string) (net.Conn, error)
	end   func() // of the server
	fault func(context.Context, reapitest.Call) error
}

func newRig(t *testing.T, eo reapitest.Options, co client.Options) *rig {
	t.Helper()
	eo.Instance = co.Instance
	r := &rig{T: t, fault: eo.Fault}
	eo.Fault = r.faulty
	r.engine = reapitest.New(eo)
	r.restart()
	co.URL = "grpc://localhost:1"
	co.Dialer = func(ctx context.Context, at string) (net.Conn, error) {
		r.mu.Lock()
		dial := r.dial
		r.mu.Unlock()
		conn, err := dial(ctx, at)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.conns = append(r.conns, conn)
		return conn, err
	}
	if co.Sleep == nil {
		co.Sleep = r.sleep
	}
	c, err := client.Dial(t.Context(), co)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = c
	t.Cleanup(func() {
		c.Close()
		r.stop()
		r.engine.Close()
	})
	return r
}

func (r *rig) sleep(ctx context.Context, d time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slept = append(r.slept, d)
	return ctx.Err()
}

// restart serves, again after stop.
func (r *rig) restart() {
	dial, end := r.engine.Memory()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dial, r.end = dial, end
}

func (r *rig) stop() { r.end() }

// storm replaces the engine's faults.
func (r *rig) storm(fault func(context.Context, reapitest.Call) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

func (r *rig) faulty(ctx context.Context, c reapitest.Call) error {
	r.mu.Lock()
	fault := r.fault
	r.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx, c)
}

// cut ends all connections.
func (r *rig) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		if c != nil {
			c.Close()
		}
	}
	r.conns = nil
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) upload(blobs ...blob.Blob) {
	r.Helper()
	r.must(r.Upload(r.Context(), blobs))
	for _, b := range blobs {
		if _, ok := r.engine.Get(reapitest.Digest{Hash: b.Digest.Hash.String(), Size: b.Digest.Size}); !ok {
			r.Errorf("the engine has not a content of %d bytes", b.Digest.Size)
		}
	}
}

// action uploads what an action needs and returns its digest.
func (r *rig) action(arguments ...string) blob.Digest {
	r.Helper()
	blobs := actionOf(arguments, &repb.Directory{})
	r.upload(blobs...)
	return blobs[0].Digest
}

// actionOf is an action and what it refers to.
func actionOf(arguments []string, root *repb.Directory) []blob.Blob {
	command, folder := message(&repb.Command{Arguments: arguments, OutputPaths: []string{"out"}}), message(root)
	action := message(&repb.Action{CommandDigest: command.Digest.Proto(), InputRootDigest: folder.Digest.Proto()})
	return []blob.Blob{action, command, folder}
}

func message(m proto.Message) blob.Blob {
	data, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return blob.Of(data)
}

func emptyRoot() *repb.Directory { return &repb.Directory{} }

// contents are n different ones of size bytes.
func contents(n, size int) []blob.Blob {
	blobs := make([]blob.Blob, n)
	for i := range blobs {
		data := bytes.Repeat([]byte(fmt.Sprintf("%d of %d\n", i, n)), size/6+1)
		blobs[i] = blob.Of(data[:size])
	}
	return blobs
}

// noise does not get smaller by compression.
func noise(size int) blob.Blob {
	data := make([]byte, size)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(data)
	return blob.Of(data)
}

// opened is a content that is not in memory.
func opened(b blob.Blob) blob.Blob {
	return blob.Blob{Digest: b.Digest, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes)), nil }}
}

// on fails the requests of a method with the given numbers at a moment.
func on(method string, at reapitest.Moment, code codes.Code, numbers ...int) func(context.Context, reapitest.Call) error {
	return func(_ context.Context, c reapitest.Call) error {
		for _, n := range numbers {
			if c.Method == method && c.Moment == at && c.Number == n {
				return status.Error(code, "as the test wants it")
			}
		}
		return nil
	}
}
