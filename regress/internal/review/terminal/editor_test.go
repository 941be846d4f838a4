package terminal

import (
	"strings"
	"testing"
)

func TestFileNameOf(t *testing.T) {
	for part, want := range map[string]string{
		"stdout": "stdout", "dist/x.min.js": "x.min.js", "..": "..",
		strings.Repeat("x", 300) + ".c":      strings.Repeat("x", 98) + ".c",
		"é" + strings.Repeat("x", 97) + ".c": strings.Repeat("x", 97) + ".c",
	} {
		if got := fileNameOf(part); got != want {
			t.Errorf("%q is in old-%s, want old-%s", part, got, want)
		}
	}
}

// The part that e opens is that of the first change, and then the one that the pane begins with.
func TestShownPart(t *testing.T) {
	m := screenOf(t, 80, 24, long())
	if part, some := m.shownPart(); part != 1 || !some {
		t.Errorf("part %d, %t: want stdout, which has the first change", part, some)
	}
	m.scroll(-100)
	if part, some := m.shownPart(); part != 0 || !some {
		t.Errorf("part %d, %t: want stderr, which is at the top", part, some)
	}
	m.editor = "'vi"
	press(m, "e")
	if row(m, "is not quoted as a shell wants it") < 0 {
		t.Errorf("nothing says that EDITOR is wrong:\n%s", text(m))
	}
}
