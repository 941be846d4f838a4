package tree_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"pgregory.net/rapid"

	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
)

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
		c := tree.Outputs{Before: foldered(t, before, "empty/old"), Whole: true, Read: e.read}
		left, err := c.Of(t.Context(), r)
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
		if !slices.IsSortedFunc(left, func(a, b tree.Output) int { return strings.Compare(a.Path, b.Path) }) {
			t.Fatalf("not in order: %v", left)
		}
	})
}

// To ask for all names that there are or were is to ask for the whole folder.
func TestAskedForByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := things(t, "before"), things(t, "after")
		e, given, now := engine{}, foldered(t, before, "empty"), foldered(t, after, "empty")
		whole := tree.Outputs{Before: given, Whole: true, Read: e.read}
		want, err := whole.Of(t.Context(), e.whole(t, now, true))
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
		named := tree.Outputs{Before: given, Paths: asked, Read: e.read}
		got, err := named.Of(t.Context(), r)
		if err != nil || !slices.EqualFunc(got, want, func(a, b tree.Output) bool { return reflect.DeepEqual(a.Part, b.Part) }) {
			t.Fatalf("%v\nfound %+v\nwant  %+v", err, got, want)
		}
	})
}

// What is as it was given is not even read.
func TestSameFoldersAreNotRead(t *testing.T) {
	var d tree.Builder
	for _, at := range []string{"include/a.h", "src/a.c"} {
		if err := d.File(at, file(at)); err != nil {
			t.Fatal(err)
		}
	}
	given := build(t, &d)
	if err := d.File("src/a.o", file("o")); err != nil {
		t.Fatal(err)
	}
	after := build(t, &d)
	e := engine{}
	r := e.whole(t, after, false)
	delete(e, given.Sub("include").Digest())
	c := tree.Outputs{Before: given, Whole: true, Read: e.read}
	left, err := c.Of(t.Context(), r)
	if err != nil || len(left) != 1 || left[0].Path != "src/a.o" || left[0].Blob() != file("o").Digest || left[0].Inlined {
		t.Errorf("%+v, %v", left, err)
	}
}

// With names in the place of the whole folder, only what is named can be told.
func TestNamedOutputs(t *testing.T) {
	var d tree.Builder
	if err := errors.Join(d.File("a.c", file("source")), d.File("out/old", file("old"))); err != nil {
		t.Fatal(err)
	}
	e := engine{}
	var sub tree.Builder
	if err := sub.File("new", file("new")); err != nil {
		t.Fatal(err)
	}
	r := e.whole(t, build(t, &sub), true)
	r.OutputDirectories[0].Path = "out"
	r.OutputFiles = []*repb.OutputFile{
		{Path: "a.o", Digest: file("obj").Digest.Proto(), IsExecutable: true, Contents: []byte("obj")},
		{Path: "a.c", Digest: file("source").Digest.Proto()},
	}
	r.OutputSymlinks = []*repb.OutputSymlink{{Path: "l", Target: "a.o"}}
	//lint:ignore SA1019 an engine that answers old clients too
	r.OutputFileSymlinks = r.OutputSymlinks
	c := tree.Outputs{Before: build(t, &d), Read: e.read}
	left, err := c.Of(t.Context(), r)
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
	if _, err := c.Of(t.Context(), r); !errors.Is(err, tree.ErrNoFolder) {
		t.Errorf("the whole folder was asked for: %v", err)
	}
}
