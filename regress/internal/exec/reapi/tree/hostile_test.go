package tree_test

import (
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

// An engine may be anybody's: what it says is checked.
func TestHostileResults(t *testing.T) {
	digest := file("x").Digest.Proto()
	for name, d := range map[string]*repb.Directory{
		"a way out":                  {Files: []*repb.FileNode{{Name: "..", Digest: digest}}},
		"a slash":                    {Files: []*repb.FileNode{{Name: "a/b", Digest: digest}}},
		"twice":                      {Files: []*repb.FileNode{{Name: "a", Digest: digest}}, Symlinks: []*repb.SymlinkNode{{Name: "a", Target: "b"}}},
		"no digest":                  {Files: []*repb.FileNode{{Name: "a"}}},
		"a bad digest":               {Files: []*repb.FileNode{{Name: "a", Digest: &repb.Digest{Hash: "ABC"}}}},
		"a negative size":            {Files: []*repb.FileNode{{Name: "a", Digest: &repb.Digest{Hash: digest.Hash, SizeBytes: -1}}}},
		"a folder that is not there": {Directories: []*repb.DirectoryNode{{Name: "a", Digest: digest}}},
	} {
		b, err := proto.Marshal(&repb.Tree{Root: d})
		if err != nil {
			t.Fatal(err)
		}
		e := engine{blob.Of(b).Digest: b}
		r := &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: blob.Of(b).Digest.Proto()}}}
		c := tree.Outputs{Whole: true, Read: e.read}
		if left, err := c.Of(t.Context(), r); err == nil {
			t.Errorf("%s: %+v", name, left)
		}
	}
	for _, at := range []string{"", "/etc/passwd", "../x", "a//b"} {
		c := tree.Outputs{Read: engine{}.read}
		if left, err := c.Of(t.Context(), &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: at, Digest: digest}}}); err == nil {
			t.Errorf("%q: %+v", at, left)
		}
	}
}

// Names are bytes to a worker, and engines that do not look at them pass them on.
func TestNamesThatAreNotUTF8(t *testing.T) {
	text := func(field protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), b)
	}
	digest, err := proto.Marshal(file("x").Digest.Proto())
	if err != nil {
		t.Fatal(err)
	}
	exec := protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), 1)
	root := slices.Concat(
		text(1, slices.Concat(text(1, []byte("o\xff")), text(2, digest), exec)),
		text(3, slices.Concat(text(1, []byte("l\xfe")), text(2, []byte("to\xfd")))),
		text(257, []byte("of a later version")),
	)
	e := engine{}
	whole := text(1, root)
	e[blob.Of(whole).Digest] = whole
	r := &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: blob.Of(whole).Digest.Proto()}}}
	c := tree.Outputs{Whole: true, Read: e.read}
	left, err := c.Of(t.Context(), r)
	if err != nil || len(left) != 2 || left[0].Path != "l\xfe" || string(left[0].Inline) != "to\xfd" ||
		left[1].Path != "o\xff" || !left[1].Exec || left[1].Blob() != file("x").Digest {
		t.Errorf("%+v, %v", left, err)
	}
	var d tree.Builder
	if err := d.File("o\xff", file("x")); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("it is sent: %v", err)
	}
}

// What no folder can hold is no result, whichever way it is said.
func TestImpossibleResults(t *testing.T) {
	one, other := file("x").Digest.Proto(), file("other").Digest.Proto()
	link := func(at, target string) []*repb.OutputSymlink {
		return []*repb.OutputSymlink{{Path: at, Target: target}}
	}
	for name, r := range map[string]*repb.ActionResult{
		"a file below a file": {OutputFiles: []*repb.OutputFile{{Path: "a", Digest: one}, {Path: "a-b", Digest: one}, {Path: "a/b/c", Digest: one}}},
		"a file below a link": {OutputFiles: []*repb.OutputFile{{Path: "a/b", Digest: one}}, OutputSymlinks: link("a", "/etc")},
		"two of one name":     {OutputFiles: []*repb.OutputFile{{Path: "a", Digest: one}, {Path: "a", Digest: other}}},
		"a file and a link":   {OutputFiles: []*repb.OutputFile{{Path: "a", Digest: one}}, OutputSymlinks: link("a", "b")},
		"a link to nothing":   {OutputSymlinks: link("a", "")},
		"a link with a NUL":   {OutputSymlinks: link("a", "b\x00")},
		"a link that is long": {OutputSymlinks: link("a", strings.Repeat("x", 4096))},
	} {
		c := tree.Outputs{Read: engine{}.read}
		if left, err := c.Of(t.Context(), r); err == nil {
			t.Errorf("%s: %+v", name, left)
		}
	}
}
