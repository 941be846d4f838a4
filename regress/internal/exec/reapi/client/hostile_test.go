package client_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// What an engine says of itself is shown in part, and drives no terminal.
func TestWordsAreHarmless(t *testing.T) {
	words := "\x1b[31m\n\u202e<b>" + strings.Repeat("é", 5000)
	r := newRig(t, reapitest.Options{Fault: func(_ context.Context, c reapitest.Call) error {
		switch c.Method {
		case "GetCapabilities":
			return nil
		case "Read", "BatchReadBlobs":
			return status.Error(codes.NotFound, words)
		}
		return status.Error(codes.InvalidArgument, words)
	}}, client.Options{})
	_, result, known := errorOf(r.Result(t.Context(), client.Execution{}))
	_, execution := r.Execute(t.Context(), client.Execution{})
	_, small := r.Read(t.Context(), noise(10).Digest)
	_, large := r.Read(t.Context(), noise(2<<20).Digest)
	for _, err := range []error{result, execution, small, large, r.Upload(t.Context(), []blob.Blob{noise(10), noise(2 << 20)})} {
		if err == nil || known || len(err.Error()) > 700 || strings.ContainsAny(err.Error(), "\x1b\n\u202e") || !strings.Contains(err.Error(), "<b>éé") {
			t.Errorf("%.900q", err)
		}
	}
}

func errorOf[T any](v T, known bool, err error) (T, error, bool) { return v, err, known }

// A message that is larger than any should be is not asked for.
func TestReadIsBounded(t *testing.T) {
	r := newRig(t, reapitest.Options{}, client.Options{})
	d := noise(10).Digest
	for _, d.Size = range []int64{1 << 40, math.MaxInt64} {
		if _, err := r.Read(t.Context(), d); regress.ClassOf(err) != regress.Environment || r.engine.Calls("Read") > 0 {
			t.Errorf("%d bytes: %v", d.Size, err)
		}
	}
	stream, err := r.Open(t.Context(), d)
	r.must(err)
	if _, err := io.ReadAll(stream); !errors.As(err, new(*client.MissingError)) {
		t.Error(err)
	}
}

// Streams that never end are ended, and those that break at once are not opened for ever.
func TestEndlessStreams(t *testing.T) {
	b := noise(1<<20 + 1)
	skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0}, make([]byte, 1<<16)...) // no content, for zstd
	for name, piece := range map[string][]byte{"empty": nil, "beside": skipped, "drops": b.Bytes[:1]} {
		endless := grpc.ChainStreamInterceptor(func(_ any, s grpc.ServerStream, _ *grpc.StreamServerInfo, _ grpc.StreamHandler) error {
			if err := s.RecvMsg(&bytestream.ReadRequest{}); err != nil {
				return err
			}
			for {
				if err := s.SendMsg(&bytestream.ReadResponse{Data: piece}); err != nil {
					return err
				}
				if name == "drops" {
					return errUnavailable
				}
			}
		})
		r := newRig(t, reapitest.Options{Zstd: name == "beside", Server: []grpc.ServerOption{endless}},
			client.Options{Attempts: 3, Deadline: 100 * time.Millisecond})
		if _, err := r.Read(t.Context(), b.Digest); regress.ClassOf(err) != regress.Environment {
			t.Errorf("%s: %v", name, err)
		}
	}
}
