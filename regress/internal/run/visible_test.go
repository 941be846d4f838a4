package run

import (
	"slices"
	"testing"

	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// Files that a recorded tool used in /tmp stay visible. What it missed or only asked for does not.
func TestVisibleFiles(t *testing.T) {
	some := outcome.Of([]byte("x"))
	got := VisibleFiles([]golden.ToolFile{
		{Path: "/tmp/conf/x", Role: golden.OpenedRole, Digest: some}, {Path: "/tmp/tool", Role: "executable", Digest: some},
		{Path: "/usr/bin/cc", Role: "program", Digest: some}, {Path: "/tmp/absent", Role: golden.AbsentRole},
		{Path: "/tmp/list", Role: golden.ListedRole, Digest: some}, {Path: "/tmp/folder", Role: golden.FolderRole},
	})
	if want := []string{"/tmp/conf/x", "/tmp/tool"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
