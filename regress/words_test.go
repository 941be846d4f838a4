package regress

import (
	"testing"

	"muster/regress/internal/fault"
)

// What is printed for a name, and what a shell completes, names the same case.
func TestParseName(t *testing.T) {
	for typed, want := range map[string]string{
		"a/b": "a/b", "./a/b": "a/b", "a//b/": "a/b", "./-x": "-x", "%2Dx": "-x", "100%25": "100%", "%0A": "\n",
	} {
		if got, err := parseName(typed); err != nil || got != want {
			t.Errorf("%q names %q, %v; want %q", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", ".", "..", "../x", "/x", "100%", "%zz", "a%00b"} {
		if got, err := parseName(typed); fault.ClassOf(err) != fault.Input {
			t.Errorf("%q names %q, %v", typed, got, err)
		}
	}
	for _, raw := range []string{"a", "-x", "--", "100%", "a\nb", "\xff"} {
		if got, err := parseName(typedName(raw)); err != nil || got != raw {
			t.Errorf("%q is typed as %q, which names %q, %v", raw, typedName(raw), got, err)
		}
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 cases", 1: "1 case", 2: "2 cases", 15_000: "15,000 cases"} {
		if got := counted(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
