package tree_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

// A large folder that is named again and again is not read for ever, and nothing is once
// nobody wants to know.
func TestMuchInFolders(t *testing.T) {
	b, err := proto.Marshal(&repb.Directory{NodeProperties: &repb.NodeProperties{Properties: []*repb.NodeProperty{{Name: strings.Repeat("x", 1<<20)}}}})
	if err != nil {
		t.Fatal(err)
	}
	var d repb.Directory
	for i := range 1000 {
		d.Directories = append(d.Directories, &repb.DirectoryNode{Name: fmt.Sprint(i), Digest: blob.Of(b).Digest.Proto()})
	}
	top, err := proto.Marshal(&d)
	if err != nil {
		t.Fatal(err)
	}
	reads, large := 0, blob.Of(b).Digest
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := tree.Outputs{Whole: true, Read: func(_ context.Context, d blob.Digest) ([]byte, error) {
		if reads++; d == large {
			return b, nil
		}
		return top, nil
	}}
	r := &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: blob.Of(top).Digest.Proto()}}}
	if _, err := c.Of(ctx, r); !errors.Is(err, tree.ErrTooMany) || reads > 100 {
		t.Errorf("%d reads, %v", reads, err)
	}
	reads = 0
	cancel()
	if _, err := c.Of(ctx, r); !errors.Is(err, context.Canceled) || reads > 0 {
		t.Errorf("%d reads, %v", reads, err)
	}
}

// A small tree that has the same folder again and again stands for very many.
func TestManyFoldersOfOne(t *testing.T) {
	const wide = 400 // to the third: 64 million
	e := engine{}
	at := blob.Of(nil).Digest
	e[at] = nil
	for range 3 {
		var d repb.Directory
		for i := range wide {
			d.Directories = append(d.Directories, &repb.DirectoryNode{Name: fmt.Sprint(i), Digest: at.Proto()})
		}
		b, err := proto.Marshal(&d)
		if err != nil {
			t.Fatal(err)
		}
		at = blob.Of(b).Digest
		e[at] = b
	}
	c := tree.Outputs{Whole: true, Read: e.read}
	_, err := c.Of(t.Context(), &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: at.Proto()}}})
	if !errors.Is(err, tree.ErrTooMany) {
		t.Errorf("%v", err)
	}
}
