package tree_test

import (
	"errors"
	"fmt"
	"maps"
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
