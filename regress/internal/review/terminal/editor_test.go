package terminal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/regress/internal/review"
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

// An editor that ends at once does not bring the screen back at once: it would stay blank.
func TestSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := editing{
			ctx: t.Context(), words: []string{"./nosuch"}, lend: func() func() { return func() {} },
			load: func() (review.Part, error) { return review.Part{Name: "stdout"}, nil },
		}
		began := time.Now()
		if err := e.Run(); err == nil || !strings.Contains(err.Error(), "cannot be started") {
			t.Errorf("the missing editor gives %v", err)
		}
		if lasted := time.Since(began); lasted < settling {
			t.Errorf("the review is back after %v, want %v at least", lasted, settling)
		}
	})
}

// A difference that is still read is not a case without one.
func TestEditBeforeLoad(t *testing.T) {
	d, _ := newDesk(1)
	m := newModel(t.Context(), d, false)
	m.editor = "vi"
	press(m, "e")
	if want := "the difference is not loaded yet: press e again"; m.message != want {
		t.Errorf("e before the difference is there says %q, want %q", m.message, want)
	}
}
