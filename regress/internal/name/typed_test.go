package name_test

import (
	"testing"

	"muster/regress"
	"muster/regress/internal/name"
)

// What is printed for a name, and what a shell completes, names the same case.
func TestParseTyped(t *testing.T) {
	for typed, want := range map[string]string{
		"a/b": "a/b", "./a/b": "a/b", "a//b/": "a/b", "./-x": "-x", "%2Dx": "-x", "100%25": "100%", "%0A": "\n",
	} {
		if got, err := name.ParseTyped(typed); err != nil || got != want {
			t.Errorf("%q names %q, %v; want %q", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", ".", "..", "../x", "/x", "100%", "%zz", "a%00b"} {
		if got, err := name.ParseTyped(typed); regress.ClassOf(err) != regress.Input {
			t.Errorf("%q names %q, %v", typed, got, err)
		}
	}
	for _, raw := range []string{"a", "-x", "--", "100%", "a\nb", "\xff"} {
		if got, err := name.ParseTyped(name.Typed(raw)); err != nil || got != raw {
			t.Errorf("%q is typed as %q, which names %q, %v", raw, name.Typed(raw), got, err)
		}
	}
}
