package blob_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

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

// What is read is what the digest says, or the error that whoever opened it has for that.
func TestChecked(t *testing.T) {
	changed := errors.New("changed")
	d := blob.Of([]byte("content")).Digest
	for text, want := range map[string]error{"content": nil, "content and more": nil, "CONTENT": changed, "con": changed, "": changed} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text))} {
			got, err := io.ReadAll(blob.Checked(io.NopCloser(r), d, changed))
			if err != want || err == nil && string(got) != "content" {
				t.Errorf("%q %s: %q, %v", text, how, got, err)
			}
		}
	}
	// Who asks for so many bytes and no more is told as well.
	if _, err := io.Copy(io.Discard, io.LimitReader(blob.Checked(io.NopCloser(strings.NewReader("CONTENT")), d, changed), d.Size)); err != changed {
		t.Errorf("%v", err)
	}
	if got, err := io.ReadAll(blob.Checked(io.NopCloser(strings.NewReader("x")), blob.Of(nil).Digest, changed)); err != nil || len(got) > 0 {
		t.Errorf("of nothing: %q, %v", got, err)
	}
	if _, err := io.ReadAll(blob.Checked(io.NopCloser(iotest.ErrReader(io.ErrNoProgress)), d, changed)); err != io.ErrNoProgress {
		t.Errorf("another error: %v", err)
	}
}
