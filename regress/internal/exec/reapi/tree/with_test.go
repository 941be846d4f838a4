package tree_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

// In whatever order files come, and whether at once or one by one, the folder is the same;
// one by one only messages on the way to the file are made.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := entries(t)
		whole := build(t, gathered(t, all))
		one := build(t, &tree.Builder{})
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

// What another tree does not have is not changed by what a case adds.
func TestWithLeavesTheFolder(t *testing.T) {
	var d tree.Builder
	for i := range 200 {
		if err := d.File(fmt.Sprintf("work/HDR_%03d.h", i), file(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	shared := build(t, &d)
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
