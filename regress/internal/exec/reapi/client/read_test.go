package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

var errUnavailable = status.Error(codes.Unavailable, "as the test wants it")

// read has a content by both ways.
func (r *rig) read(b blob.Blob) {
	r.Helper()
	got, err := r.Read(r.Context(), b.Digest)
	r.must(err)
	stream, err := r.Open(r.Context(), b.Digest)
	r.must(err)
	defer stream.Close()
	again, err := io.ReadAll(stream)
	r.must(err)
	if !bytes.Equal(got, b.Bytes) || !bytes.Equal(again, b.Bytes) {
		r.Errorf("%d and %d bytes of %d", len(got), len(again), b.Digest.Size)
	}
}

func TestRead(t *testing.T) {
	for _, zip := range []bool{false, true} {
		r := newRig(t, reapitest.Options{Zstd: zip, BatchMax: 100_000}, client.Options{})
		blobs := append(contents(30, 3000), noise(1<<20+1), blob.Of(nil), noise(99_000))
		var group sync.WaitGroup
		for _, b := range slices.Concat(blobs, blobs) {
			r.engine.Put(b.Bytes)
			group.Go(func() { r.read(b) })
		}
		group.Wait()
	}
}

// A stream that breaks goes on where it was, as long as something comes each time.
func TestReadResumes(t *testing.T) {
	for _, zip := range []bool{false, true} {
		r := newRig(t, reapitest.Options{Zstd: zip, Fault: func(_ context.Context, c reapitest.Call) error {
			if c.Method == "Read" && c.Message == 5 && c.Number < 6 {
				return errUnavailable
			}
			return nil
		}}, client.Options{Attempts: 2})
		b := noise(1<<20 + 1)
		r.engine.Put(b.Bytes)
		r.read(b)
		if r.engine.Calls("Read") < 6 {
			t.Error("it was not cut")
		}
	}
}

// byteStream sends the first byte of a content, and breaks.
type byteStream struct{ grpc.ServerStream }

func (s byteStream) SendMsg(m any) error {
	reply := m.(*bytestream.ReadResponse)
	reply.Data = reply.Data[:1]
	return errors.Join(s.ServerStream.SendMsg(m), errUnavailable)
}

// Streams that always break after one byte do not go on for ever.
func TestReadCreeps(t *testing.T) {
	creep := grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		return handle(srv, byteStream{s})
	})
	r := newRig(t, reapitest.Options{Server: []grpc.ServerOption{creep}}, client.Options{Attempts: 3})
	b := noise(50)
	r.engine.Put(b.Bytes)
	stream, err := r.Open(t.Context(), b.Digest)
	r.must(err)
	defer stream.Close()
	if data, err := io.ReadAll(stream); len(data) != 3 || r.engine.Calls("Read") != 3 || regress.ClassOf(err) != regress.Environment {
		t.Errorf("%d bytes by %d streams, %v", len(data), r.engine.Calls("Read"), err)
	}
}

// What the engine has not is an error that says what, and no other.
func TestReadMissing(t *testing.T) {
	r := newRig(t, reapitest.Options{}, client.Options{})
	for _, b := range []blob.Blob{noise(10), noise(2 << 20)} {
		_, err := r.Read(t.Context(), b.Digest)
		missing := (*client.MissingError)(nil)
		if !errors.As(err, &missing) || !slices.Equal(missing.Digests, []blob.Digest{b.Digest}) || regress.ClassOf(err) != regress.Environment {
			t.Error(err)
		}
	}
}

// What comes is what was asked for, or an error.
func TestLies(t *testing.T) {
	for name, lie := range map[string]func(reapitest.Digest, []byte) []byte{
		"changed": func(_ reapitest.Digest, b []byte) []byte { return append(bytes.Clone(b[:len(b)-1]), b[len(b)-1]+1) },
		"shorter": func(_ reapitest.Digest, b []byte) []byte { return b[:len(b)-1] },
		"longer":  func(_ reapitest.Digest, b []byte) []byte { return append(bytes.Clone(b), 0) },
	} {
		for _, zip := range []bool{false, true} {
			r := newRig(t, reapitest.Options{Lie: lie, Zstd: zip}, client.Options{Attempts: 3})
			for _, b := range []blob.Blob{noise(10), noise(1<<20 + 1)} {
				r.engine.Put(b.Bytes)
				data, err := r.Read(t.Context(), b.Digest)
				if regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "localhost:1, reading") {
					t.Errorf("%s: %d bytes, %v", name, len(data), err)
				}
			}
		}
	}
}

// Contents that an engine puts off one by one are asked for again, those alone.
func TestReadPutOff(t *testing.T) {
	var mu sync.Mutex
	put := map[int]bool{}
	r := newRig(t, reapitest.Options{Fault: func(_ context.Context, c reapitest.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Method == "BatchReadBlobs" && c.Number < 4 && c.Moment == reapitest.End && !put[c.Number] {
			put[c.Number] = true
			return status.Error(codes.ResourceExhausted, "later")
		}
		return nil
	}}, client.Options{})
	b := noise(1000)
	r.engine.Put(b.Bytes)
	r.read(b)
	if len(r.slept) != 3 {
		t.Errorf("waited %v", r.slept)
	}
}
