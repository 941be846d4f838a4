package blob_test

import (
	"io"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

func TestDigestsAsMessagesHaveThem(t *testing.T) {
	d := blob.Of([]byte("muster")).Digest
	if back, err := blob.FromProto(d.Proto()); err != nil || back != d {
		t.Errorf("%v became %v, %v", d, back, err)
	}
	for name, m := range map[string]*repb.Digest{
		"none": nil, "empty": {}, "short": {Hash: "e3b0"}, "of another function": {Hash: strings.Repeat("0", 40)},
		"capitals": {Hash: strings.Repeat("A", 64)}, "no hex": {Hash: strings.Repeat("g", 64)}, "negative": {Hash: d.Hash.String(), SizeBytes: -1},
	} {
		if got, err := blob.FromProto(m); err == nil || got != (blob.Digest{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestReader(t *testing.T) {
	opened := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("opened")), nil }
	for want, b := range map[string]blob.Blob{"held": blob.Of([]byte("held")), "opened": {Open: opened}} {
		r, err := b.Reader()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
}
