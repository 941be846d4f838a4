package partglob_test

import (
	"testing"

	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

func TestMatch(t *testing.T) {
	stdout, file := outcome.Key{Place: outcome.Stdout}, func(path string) outcome.Key { return outcome.Key{Place: outcome.File, Path: path} }
	for _, c := range []struct {
		pattern string
		key     outcome.Key
		want    bool
	}{
		{"stdout", stdout, true},
		{"stdout", outcome.Key{Place: outcome.Stderr}, false},
		{"stdout", file("stdout"), false},
		{"./stdout", file("stdout"), true},
		{"./stdout", stdout, false},
		{"std*", stdout, true},
		{"*/stdout", stdout, false},
		{"*.log", file("a.log"), true},
		{"*.log", file("deep/er/a.log"), true},
		{"./*.log", file("deep/a.log"), false},
		{"cache/**", file("cache/a/b"), true},
		{"cache/**", file("other/cache/b"), false},
		{"cache", file("cache/b"), false},
	} {
		p, err := partglob.Compile(c.pattern)
		if err != nil || p.Match(c.key) != c.want {
			t.Errorf("%s on %q: not %t, %v", c.pattern, c.key, c.want, err)
		}
	}
	if _, err := partglob.Compile("[a"); err == nil {
		t.Error("a malformed pattern is taken")
	}
}
