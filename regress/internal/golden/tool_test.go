package golden

import (
	"testing"

	"muster/regress/internal/outcome"
)

func TestSameTool(t *testing.T) {
	one, two := outcome.Of([]byte("1")), outcome.Of([]byte("2"))
	command := ToolFile{"/bin/comp", "executable", one}
	library := ToolFile{"/lib/a", OpenedRole, one}
	listed := ToolFile{"/plugins", ListedRole, one}
	for _, c := range []struct {
		what string
		a, b []ToolFile
		want bool
	}{
		{"the same", []ToolFile{command, library}, []ToolFile{command, library}, true},
		{"a file of other cases", []ToolFile{command, library}, []ToolFile{command}, true},
		{"another command", []ToolFile{command}, []ToolFile{{"/bin/other", "executable", one}}, false},
		{"another library", []ToolFile{command, library}, []ToolFile{command, {"/lib/a", OpenedRole, two}}, false},
		{"other names in a folder", []ToolFile{listed}, []ToolFile{{"/plugins", ListedRole, two}}, false},
		{"a folder that these cases only ask for", []ToolFile{listed}, []ToolFile{{Path: "/plugins", Role: FolderRole}}, true},
		{"a file that is a path without one", []ToolFile{library}, []ToolFile{{Path: "/lib/a", Role: AbsentRole}}, false},
	} {
		if got := SameTool(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
