package tree_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

func file(content string) tree.File { return tree.File{Digest: blob.Of([]byte(content)).Digest} }

func done(t rapid.TB, d *tree.Draft) *tree.Folder {
	t.Helper()
	f, err := d.Done()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The digests that every implementation has, and those of the shape in the comment of
// message Directory in remote_execution.proto: a file bar, and a folder foo with an
// executable file baz. They were made by hand from the wire format.
func TestKnownDigests(t *testing.T) {
	if d := done(t, &tree.Draft{}).Digest(); d.Size != 0 || d.Hash.String() != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("an empty folder is %v", d)
	}
	var d tree.Draft
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
	root := done(t, &d)
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
		folder := done(t, draft(t, entries(t)))
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

// In whatever order files come, and whether at once or one by one, the folder is the same;
// one by one only messages on the way to the file are made.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := entries(t)
		whole := done(t, draft(t, all))
		one := done(t, &tree.Draft{})
		sent := map[blob.Digest]bool{}
		for _, at := range rapid.Permutation(slices.Sorted(maps.Keys(all))).Draw(t, "order") {
			now, made, err := one.With(at, all[at])
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Count(at, "/") + 1; len(made) != want || made[want-1].Digest != now.Digest() {
				t.Fatalf("%s: %d messages, want %d, the root last", at, len(made), want)
			}
			for _, b := range made {
				sent[b.Digest] = true
			}
			one = now
		}
		if one.Digest() != whole.Digest() {
			t.Fatalf("one by one %v, at once %v", one.Digest(), whole.Digest())
		}
		for b := range whole.Blobs {
			if len(all) > 0 && !sent[b.Digest] {
				t.Fatalf("message %v is never sent", b.Digest)
			}
		}
	})
}

func FuzzOrder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzzed)) }

func fuzzed(t *rapid.T) {
	all := entries(t)
	first, second := done(t, draft(t, all)), done(t, draft(t, all))
	if first.Digest() != second.Digest() {
		t.Fatalf("%v and %v", first.Digest(), second.Digest())
	}
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

func draft(t *rapid.T, all map[string]tree.File) *tree.Draft {
	d := &tree.Draft{}
	for _, at := range rapid.Permutation(slices.Sorted(maps.Keys(all))).Draw(t, "order") {
		if err := d.File(at, all[at]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// What another tree does not have is not changed by what a case adds.
func TestWithLeavesTheFolder(t *testing.T) {
	var d tree.Draft
	for i := range 200 {
		if err := d.File(fmt.Sprintf("work/HDR_%03d.h", i), file(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	shared := done(t, &d)
	before := shared.Digest()
	now, _, err := shared.With("work/main.c", file("int main;"))
	again, _, err2 := now.With("work/main.c", file("other"))
	back, _, err3 := again.With("work/main.c", file("int main;"))
	if err != nil || err2 != nil || err3 != nil || shared.Digest() != before || again.Digest() == now.Digest() || back.Digest() != now.Digest() {
		t.Errorf("%v %v %v", err, err2, err3)
	}
	if _, _, err := shared.With("work", file("")); err == nil {
		t.Error("a file took the place of a folder")
	}
	if _, _, err := shared.With("work/HDR_000.h/x", file("")); err == nil {
		t.Error("a folder took the place of a file")
	}
}

func TestHostileNames(t *testing.T) {
	for _, at := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\x00", "\xff", "a/\xff/b",
		strings.Repeat("x", 256), strings.Repeat("x/", 2048) + "x"} {
		var d tree.Draft
		if err := d.File(at, file("")); err == nil {
			t.Errorf("%.40q is taken", at)
		}
		if _, _, err := done(t, &tree.Draft{}).With(at, file("")); err == nil {
			t.Errorf("%.40q is added", at)
		}
		if err := d.Folder(at); err == nil {
			t.Errorf("folder %.40q is taken", at)
		}
	}
	var d tree.Draft
	for _, target := range []string{"", "a\x00", "\xfe", strings.Repeat("x", 4096)} {
		if err := d.Link("l", target); err == nil {
			t.Errorf("a link to %.40q is taken", target)
		}
	}
	first := d.File("a", file("1"))
	if same, other, folder, below := d.File("a", file("1")), d.File("a", file("2")), d.Folder("a"), d.File("a/b", file("")); first != nil || same != nil || other == nil || folder == nil || below == nil {
		t.Errorf("%v; the same: %v; another: %v; a folder: %v; below it: %v", first, same, other, folder, below)
	}
}

func BenchmarkWith(b *testing.B) {
	var d tree.Draft
	for i := range 200 {
		if err := d.File(fmt.Sprintf("work/HDR_%03d.h", i), file(fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	shared, err := d.Done()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := shared.With("work/main.c", file("x")); err != nil {
			b.Fatal(err)
		}
	}
}

const (
	knownFoo  = "0af311406dc0d17a15953c737f7dba2748f4cae33590b971f204f7b7c43b4933/79"
	knownRoot = "3b8fa232a331778b2f97279306ee02c516305e6ef317be41d3cbcc6804c1a551/170"
)
