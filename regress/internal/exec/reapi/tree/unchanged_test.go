package tree_test

import (
	"fmt"
	"slices"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

// filesIn is what an action left that was given the files a to e, with the link l to a, and of
// which the engine says this.
func filesIn(t *testing.T, d *repb.Directory) ([]string, error) {
	t.Helper()
	var given tree.Builder
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if err := given.File(name, file(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := given.Link("l", "a"); err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(&repb.Tree{Root: d})
	if err != nil {
		t.Fatal(err)
	}
	c := tree.Outputs{Before: build(t, &given), Whole: true, Read: engine{blob.Of(b).Digest: b}.read}
	left, err := c.Of(t.Context(), &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: blob.Of(b).Digest.Proto()}}})
	var found []string
	for _, l := range left {
		found = append(found, fmt.Sprint(l.Path, " ", l.Form))
	}
	return found, err
}

func node(name, content string) *repb.FileNode {
	return &repb.FileNode{Name: name, Digest: file(content).Digest.Proto()}
}

// Engines need not keep to the order that makes it easy to see what is the same, nor write a
// message in the fewest bytes.
func TestAnyOrder(t *testing.T) {
	link := []*repb.SymlinkNode{{Name: "l", Target: "a"}}
	for _, c := range []struct {
		files []*repb.FileNode
		want  []string
	}{
		{[]*repb.FileNode{node("a", "a"), node("b", "b"), node("c", "c"), node("d", "d"), node("e", "e"), node("f", "")}, []string{"f 0"}},
		{[]*repb.FileNode{node("e", "e"), node("d", "d"), node("c", "c"), node("b", "b"), node("a", "a"), node("0", "")}, []string{"0 0"}},
		{[]*repb.FileNode{node("e", "e"), node("a", "x"), node("f", "f"), node("c", "c")}, []string{"a 0", "b 2", "d 2", "f 0"}},
		{[]*repb.FileNode{node("c", "c"), node("a", "a"), node("d", "d"), node("b", "other"), node("e", "e")}, []string{"b 0"}},
	} {
		got, err := filesIn(t, &repb.Directory{Files: c.files, Symlinks: link})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v gave %q, %v; want %q", c.files, got, err, c.want)
		}
	}
	longer := node("a", "a")
	longer.NodeProperties = &repb.NodeProperties{}
	got, err := filesIn(t, &repb.Directory{Files: []*repb.FileNode{longer, node("b", "b"), node("c", "c"), node("d", "d"), node("e", "e")}, Symlinks: link})
	if err != nil || len(got) > 0 {
		t.Errorf("a file with more in its message gave %q, %v", got, err)
	}
}

// A name that is there as it was given cannot be there once more, as whatever.
func TestSameNameTwice(t *testing.T) {
	a := node("a", "a")
	for what, d := range map[string]*repb.Directory{
		"again":        {Files: []*repb.FileNode{a, a}},
		"another file": {Files: []*repb.FileNode{a, node("a", "x")}},
		"before it":    {Files: []*repb.FileNode{node("a", "x"), a}},
		"a link":       {Files: []*repb.FileNode{a}, Symlinks: []*repb.SymlinkNode{{Name: "a", Target: "b"}}},
		"a folder":     {Files: []*repb.FileNode{a}, Directories: []*repb.DirectoryNode{{Name: "a", Digest: blob.Of(nil).Digest.Proto()}}},
		"a link again": {Symlinks: []*repb.SymlinkNode{{Name: "l", Target: "a"}, {Name: "l", Target: "a"}}},
	} {
		if got, err := filesIn(t, d); err == nil {
			t.Errorf("%s: %q", what, got)
		}
	}
}
