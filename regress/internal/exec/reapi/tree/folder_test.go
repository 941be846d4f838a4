package tree_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

func file(content string) tree.File { return tree.File{Digest: blob.Of([]byte(content)).Digest} }

func build(t rapid.TB, d *tree.Builder) *tree.Folder {
	t.Helper()
	f, err := d.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The digests that every implementation has, and those of the shape in the comment of
// message Directory in remote_execution.proto: a file bar, and a folder foo with an
// executable file baz. They were made by hand from the wire format.
func TestKnownDigests(t *testing.T) {
	if d := build(t, &tree.Builder{}).Digest(); d.Size != 0 || d.Hash.String() != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("an empty folder is %v", d)
	}
	var d tree.Builder
	bar, baz := file("bar\n"), file("baz\n")
	baz.Exec = true
	for path, f := range map[string]tree.File{"foo/baz": baz, "bar": bar} {
		if err := d.File(path, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Link("zed", "foo/baz"); err != nil {
		t.Fatal(err)
	}
	root := build(t, &d)
	for path, want := range map[string]string{"foo": knownFoo, "": knownRoot} {
		got := root.Sub(path).Digest()
		if text := fmt.Sprintf("%s/%d", got.Hash, got.Size); text != want {
			t.Errorf("folder %q is %s, want %s", path, text, want)
		}
	}
}

// A folder's bytes are put together from those of its entries; the library makes the same
// of a whole message.
func TestMessagesAreTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folder := build(t, gathered(t, entries(t)))
		for b := range folder.Blobs {
			var m repb.Directory
			if err := proto.Unmarshal(b.Bytes, &m); err != nil {
				t.Fatal(err)
			}
			again, err := proto.MarshalOptions{Deterministic: true}.Marshal(&m)
			if err != nil || string(again) != string(b.Bytes) || blob.Of(again).Digest != b.Digest {
				t.Fatalf("%v becomes %x, was %x", err, again, b.Bytes)
			}
			for _, names := range [][]string{names(m.Files), names(m.Directories), names(m.Symlinks)} {
				if !slices.IsSorted(names) {
					t.Fatalf("%q are not in order", names)
				}
			}
		}
	})
}

func names[N interface{ GetName() string }](nodes []N) (list []string) {
	for _, n := range nodes {
		list = append(list, n.GetName())
	}
	return list
}

// entries draws files none of which is another's folder.
func entries(t *rapid.T) map[string]tree.File {
	part := rapid.SampledFrom([]string{"a", "b", "B", "a.c", "é", "HDR_1.h", "-"})
	all := map[string]tree.File{}
	for range rapid.IntRange(0, 12).Draw(t, "files") {
		parts := rapid.SliceOfN(part, 1, 3).Draw(t, "path")
		for i := range parts[:len(parts)-1] {
			parts[i] += ".d"
		}
		f := file(rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "content"))
		f.Exec = rapid.Bool().Draw(t, "exec")
		all[path.Join(parts...)] = f
	}
	return all
}

func gathered(t *rapid.T, all map[string]tree.File) *tree.Builder {
	d := &tree.Builder{}
	for _, at := range rapid.Permutation(slices.Sorted(maps.Keys(all))).Draw(t, "order") {
		if err := d.File(at, all[at]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

const (
	knownFoo  = "0af311406dc0d17a15953c737f7dba2748f4cae33590b971f204f7b7c43b4933/79"
	knownRoot = "3b8fa232a331778b2f97279306ee02c516305e6ef317be41d3cbcc6804c1a551/170"
)
