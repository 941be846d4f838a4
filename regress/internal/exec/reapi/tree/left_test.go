package tree_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
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
	var d tree.Draft
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
	return done(t, &d)
}

// An action leaves what a lane would find: what is new, what has other bytes, another
// executable bit or target, and what is gone; not what was written again with the same
// bytes, nor folders.
func TestFilesAreTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := things(t, "before"), things(t, "after")
		want := map[string]string{}
		for at, now := range after {
			if had, ok := before[at]; !ok || had != now {
				want[at] = fmt.Sprint(outcome.Regular, now.Digest.Hash, now.Exec)
				if now.target != "" {
					want[at] = fmt.Sprint(outcome.Symlink, outcome.Of([]byte(now.target)), false)
				}
			}
		}
		for at := range before {
			if _, ok := after[at]; !ok {
				want[at] = fmt.Sprint(outcome.Gone, outcome.Digest{}, false)
			}
		}
		e := engine{}
		r := e.whole(t, foldered(t, after, "empty/new"), rapid.Bool().Draw(t, "as a tree"))
		c := tree.Compare{Given: foldered(t, before, "empty/old"), Whole: true, Read: e.read}
		left, err := c.Files(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, l := range left {
			got[l.Path] = fmt.Sprint(l.Form, l.Digest, l.Exec)
			if l.Place != outcome.File {
				t.Errorf("%s is no file", l.Path)
			}
		}
		if !maps.Equal(got, want) || len(got) != len(left) {
			t.Fatalf("found %v\nwant %v", got, want)
		}
		if !slices.IsSortedFunc(left, func(a, b tree.Left) int { return strings.Compare(a.Path, b.Path) }) {
			t.Fatalf("not in order: %v", left)
		}
	})
}

// To ask for all names that there are or were is to ask for the whole folder.
func TestAskedForByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := things(t, "before"), things(t, "after")
		e, given, now := engine{}, foldered(t, before, "empty"), foldered(t, after, "empty")
		whole := tree.Compare{Given: given, Whole: true, Read: e.read}
		want, err := whole.Files(t.Context(), e.whole(t, now, true))
		if err != nil {
			t.Fatal(err)
		}
		asked := slices.Compact(slices.Sorted(func(yield func(string) bool) {
			for _, all := range []map[string]thing{before, after} {
				for at := range all {
					if !yield(at) {
						return
					}
				}
			}
		}))
		if rapid.Bool().Draw(t, "a folder") {
			asked = append(asked, "s")
		}
		r := &repb.ActionResult{}
		for _, at := range asked {
			one, is := after[at]
			switch sub := now.Sub(at); {
			case is && one.target != "":
				r.OutputSymlinks = append(r.OutputSymlinks, &repb.OutputSymlink{Path: at, Target: one.target})
			case is:
				r.OutputFiles = append(r.OutputFiles, &repb.OutputFile{Path: at, Digest: one.Digest.Proto(), IsExecutable: one.Exec})
			case sub != nil:
				d := e.whole(t, sub, true).OutputDirectories[0]
				d.Path = at
				r.OutputDirectories = append(r.OutputDirectories, d)
			}
		}
		named := tree.Compare{Given: given, Asked: asked, Read: e.read}
		got, err := named.Files(t.Context(), r)
		if err != nil || !slices.EqualFunc(got, want, func(a, b tree.Left) bool { return a.Part == b.Part }) {
			t.Fatalf("%v\nfound %+v\nwant  %+v", err, got, want)
		}
	})
}

// What is as it was given is not even read.
func TestSameFoldersAreNotRead(t *testing.T) {
	var d tree.Draft
	for _, at := range []string{"include/a.h", "src/a.c"} {
		if err := d.File(at, file(at)); err != nil {
			t.Fatal(err)
		}
	}
	given := done(t, &d)
	if err := d.File("src/a.o", file("o")); err != nil {
		t.Fatal(err)
	}
	after := done(t, &d)
	e := engine{}
	r := e.whole(t, after, false)
	delete(e, given.Sub("include").Digest())
	c := tree.Compare{Given: given, Whole: true, Read: e.read}
	left, err := c.Files(t.Context(), r)
	if err != nil || len(left) != 1 || left[0].Path != "src/a.o" || left[0].Blob() != file("o").Digest || left[0].Here {
		t.Errorf("%+v, %v", left, err)
	}
}

// With names in the place of the whole folder, only what is named can be told.
func TestNamedOutputs(t *testing.T) {
	var d tree.Draft
	if err := errors.Join(d.File("a.c", file("source")), d.File("out/old", file("old"))); err != nil {
		t.Fatal(err)
	}
	e := engine{}
	var sub tree.Draft
	if err := sub.File("new", file("new")); err != nil {
		t.Fatal(err)
	}
	r := e.whole(t, done(t, &sub), true)
	r.OutputDirectories[0].Path = "out"
	r.OutputFiles = []*repb.OutputFile{
		{Path: "a.o", Digest: file("obj").Digest.Proto(), IsExecutable: true, Contents: []byte("obj")},
		{Path: "a.c", Digest: file("source").Digest.Proto()},
	}
	r.OutputSymlinks = []*repb.OutputSymlink{{Path: "l", Target: "a.o"}}
	//lint:ignore SA1019 an engine that answers old clients too
	r.OutputFileSymlinks = r.OutputSymlinks
	c := tree.Compare{Given: done(t, &d), Read: e.read}
	left, err := c.Files(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range left {
		got = append(got, fmt.Sprint(l.Path, " ", l.Form, " ", l.Exec, " ", string(l.Inline)))
	}
	want := []string{"a.o 0 true obj", "l 1 false a.o", "out/new 0 false ", "out/old 2 false "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c.Whole = true
	if _, err := c.Files(t.Context(), r); !errors.Is(err, tree.ErrNoFolder) {
		t.Errorf("the whole folder was asked for: %v", err)
	}
}

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
		c := tree.Compare{Whole: true, Read: e.read}
		if left, err := c.Files(t.Context(), r); err == nil {
			t.Errorf("%s: %+v", name, left)
		}
	}
	for _, at := range []string{"", "/etc/passwd", "../x", "a//b"} {
		c := tree.Compare{Read: engine{}.read}
		if left, err := c.Files(t.Context(), &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: at, Digest: digest}}}); err == nil {
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
	c := tree.Compare{Whole: true, Read: e.read}
	left, err := c.Files(t.Context(), r)
	if err != nil || len(left) != 2 || left[0].Path != "l\xfe" || string(left[0].Inline) != "to\xfd" ||
		left[1].Path != "o\xff" || !left[1].Exec || left[1].Blob() != file("x").Digest {
		t.Errorf("%+v, %v", left, err)
	}
	var d tree.Draft
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
		c := tree.Compare{Read: engine{}.read}
		if left, err := c.Files(t.Context(), r); err == nil {
			t.Errorf("%s: %+v", name, left)
		}
	}
}

// What was given does not count among what an action left, however much it is.
func TestManyFilesGiven(t *testing.T) {
	if testing.Short() {
		t.Skip("makes very many files")
	}
	var d tree.Draft
	for i := range tree.FilesMax + 1 {
		if err := d.File(fmt.Sprint(i), file("x")); err != nil {
			t.Fatal(err)
		}
	}
	given := done(t, &d)
	after, _, err := given.With("new", file("new"))
	if err != nil {
		t.Fatal(err)
	}
	e := engine{after.Digest(): slices.Collect(after.Blobs)[0].Bytes}
	c := tree.Compare{Given: given, Whole: true, Read: e.read}
	left, err := c.Files(t.Context(), &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: after.Digest().Proto()}}})
	if err != nil || len(left) != 1 {
		t.Errorf("%d files, %v", len(left), err)
	}
}

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
	c := tree.Compare{Whole: true, Read: func(_ context.Context, d blob.Digest) ([]byte, error) {
		if reads++; d == large {
			return b, nil
		}
		return top, nil
	}}
	r := &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: blob.Of(top).Digest.Proto()}}}
	if _, err := c.Files(ctx, r); !errors.Is(err, tree.ErrTooMany) || reads > 100 {
		t.Errorf("%d reads, %v", reads, err)
	}
	reads = 0
	cancel()
	if _, err := c.Files(ctx, r); !errors.Is(err, context.Canceled) || reads > 0 {
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
	c := tree.Compare{Whole: true, Read: e.read}
	_, err := c.Files(t.Context(), &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: at.Proto()}}})
	if !errors.Is(err, tree.ErrTooMany) {
		t.Errorf("%v", err)
	}
}

func FuzzTree(f *testing.F) {
	b, err := proto.Marshal(&repb.Tree{Root: &repb.Directory{Files: []*repb.FileNode{{Name: "a", Digest: file("").Digest.Proto()}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0x0a})
	f.Fuzz(func(t *testing.T, b []byte) {
		e := engine{blob.Of(b).Digest: b}
		c := tree.Compare{Whole: true, Read: e.read}
		left, err := c.Files(t.Context(), &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: blob.Of(b).Digest.Proto()}}})
		for _, l := range left {
			if err != nil || l.Path == "" || l.Path[0] == '/' || l.Size < 0 {
				t.Fatalf("%+v, %v", l, err)
			}
		}
	})
}
