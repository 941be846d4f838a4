package reapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
)

// store holds what would be on an engine.
type store map[blob.Digest][]byte

func (s store) put(t *testing.T, blobs ...blob.Blob) {
	t.Helper()
	for _, b := range blobs {
		r, err := b.Reader()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		if blob.Of(text).Digest != b.Digest {
			t.Fatalf("a blob is not what its digest says: %.40q", text)
		}
		s[b.Digest] = text
	}
}

func (s store) get(t *testing.T, d *repb.Digest, m proto.Message) {
	t.Helper()
	digest, err := blob.FromProto(d)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := s[digest]
	if !ok {
		t.Fatalf("blob %v was never sent", digest)
	}
	if err := proto.Unmarshal(text, m); err != nil {
		t.Fatal(err)
	}
}

// listed is every file and link below a folder that was sent, with all contents there.
func (s store) listed(t *testing.T, d *repb.Digest, at string) (list []string) {
	t.Helper()
	var m repb.Directory
	s.get(t, d, &m)
	for _, f := range m.GetFiles() {
		digest, err := blob.FromProto(f.GetDigest())
		if err != nil {
			t.Fatal(err)
		}
		text, ok := s[digest]
		if !ok {
			t.Fatalf("%s was never sent", f.GetName())
		}
		list = append(list, at+f.GetName()+"="+string(text[:min(len(text), 10)]))
	}
	for _, l := range m.GetSymlinks() {
		list = append(list, at+l.GetName()+"->"+l.GetTarget())
	}
	for _, sub := range m.GetDirectories() {
		list = append(list, s.listed(t, sub.GetDigest(), at+sub.GetName()+"/")...)
	}
	return list
}

func (s store) contents() contentStore {
	read := func(_ context.Context, d blob.Digest) ([]byte, error) {
		if text, ok := s[d]; ok {
			return text, nil
		}
		return nil, errEvicted
	}
	return contentStore{read: read, open: func(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
		text, err := read(ctx, d)
		return io.NopCloser(strings.NewReader(string(text))), err
	}}
}

var errEvicted = errors.New("evicted")
