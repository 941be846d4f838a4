package tree_test

import (
	"strings"
	"testing"

	"muster/regress/internal/exec/reapi/tree"
)

func TestHostileNames(t *testing.T) {
	for _, at := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\x00", "\xff", "a/\xff/b",
		strings.Repeat("x", 256), strings.Repeat("x/", 2048) + "x"} {
		var d tree.Builder
		if err := d.File(at, file("")); err == nil {
			t.Errorf("%.40q is taken", at)
		}
		if _, _, err := build(t, &tree.Builder{}).With(at, file("")); err == nil {
			t.Errorf("%.40q is added", at)
		}
		if err := d.Folder(at); err == nil {
			t.Errorf("folder %.40q is taken", at)
		}
	}
	var d tree.Builder
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
