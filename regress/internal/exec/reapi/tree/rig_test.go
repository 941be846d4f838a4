package tree_test

import (
	"context"
	"fmt"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

// engine holds messages as an engine does.
type engine map[blob.Digest][]byte

func (e engine) read(_ context.Context, d blob.Digest) ([]byte, error) {
	b, ok := e[d]
	if !ok {
		return nil, fmt.Errorf("no blob %v", d)
	}
	return b, nil
}

// whole is the result of an action that left the folder, as one Tree or folder by folder.
func (e engine) whole(t rapid.TB, after *tree.Folder, asTree bool) *repb.ActionResult {
	t.Helper()
	out := &repb.OutputDirectory{}
	var m repb.Tree
	for b := range after.Blobs {
		e[b.Digest] = b.Bytes
		var d repb.Directory
		if err := proto.Unmarshal(b.Bytes, &d); err != nil {
			t.Fatal(err)
		}
		if b.Digest == after.Digest() {
			m.Root = &d
		} else {
			m.Children = append(m.Children, &d)
		}
	}
	if !asTree {
		out.RootDirectoryDigest = after.Digest().Proto()
		return &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{out}}
	}
	b, err := proto.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	text := blob.Of(b)
	e[text.Digest] = b
	out.TreeDigest = text.Digest.Proto()
	return &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{out}}
}

// thing is what has a name in a work folder: a link, if it has a target.
type thing struct {
	tree.File
	target string
}

func things(t *rapid.T, label string) map[string]thing {
	all := map[string]thing{}
	for range rapid.IntRange(0, 8).Draw(t, label) {
		// A name with and without the folder below it: one becomes the other.
		at := rapid.SampledFrom([]string{"a", "b", "s/a", "s/b", "s/t/a", "s/t", "b/c"}).Draw(t, label+" name")
		one := thing{File: file(rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, label+" content"))}
		one.Exec = rapid.Bool().Draw(t, label+" exec")
		if rapid.IntRange(0, 3).Draw(t, label+" link") == 0 {
			one = thing{target: rapid.SampledFrom([]string{"a", "s"}).Draw(t, label+" target")}
		}
		all[at] = one
	}
	for at := range all {
		for above := range all {
			if len(at) > len(above) && at[:len(above)+1] == above+"/" {
				delete(all, above)
			}
		}
	}
	return all
}

func foldered(t *rapid.T, all map[string]thing, empty string) *tree.Folder {
	var d tree.Builder
	for at, one := range all {
		put := func() error { return d.File(at, one.File) }
		if one.target != "" {
			put = func() error { return d.Link(at, one.target) }
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Folder(empty); err != nil {
		t.Fatal(err)
	}
	return build(t, &d)
}
