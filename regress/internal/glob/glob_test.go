package glob_test

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"muster/regress"
	"muster/regress/internal/glob"
	names "muster/regress/internal/name"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"HDR_*", "HDR_a.h", true},
		{"HDR_*", "lib/x/HDR_a.h", true},
		{"HDR_*", "HDR_lib/a.h", false}, // the base name alone counts
		{"HDR_*", "aHDR_", false},
		{"*.c", "a.c", true},
		{"*.c", "a/b/c.c", true},
		{"lib/*.c", "lib/a.c", true},
		{"lib/*.c", "x/lib/a.c", false},
		{"lib/*.c", "lib/x/a.c", false},
		{"lib/**/*.c", "lib/a.c", true},
		{"lib/**/*.c", "lib/x/y/a.c", true},
		{"lib/**", "lib/x/y/a.c", true},
		{"**", "a", true},
		{"**", "a/b/c", true},
		{"**/x", "x", true},
		{"**/x", "a/b/x", true},
		{"{a,b}.[ch]", "q/b.h", true},
		{"{a,b}.[ch]", "q/c.h", false},
		{"", "a", false},
		{"*", "", false},
		{"?", "é", true},
		{"a b*", "a b\nc", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		// Bytes that are not UTF-8.
		{"*", "\xff\xfe", true},
		{"**", "a/\xff/b", true},
		{"*/*", "\xff/\xfe", true},
		{"\xff*", "\xffa", true},
		{"\xff", "\xfe", false}, // both decode to U+FFFD
		{"\xff", "\uFFFD", false},
		{"\uFFFD", "\xff", false},
		{"?", "\xff", true},
		{"??", "\xff\xfe", true},
		{"?", "\xff\xfe", false},
		{"é?", "é\xff", true},
		{"[\xfe-\xff]", "\xff", true},
		{"[é]\xff", "é\xff", true},
		{"[!\xff]", "\xff", false},
	} {
		got, err := glob.Match(c.pattern, c.name)
		if err != nil || got != c.want {
			t.Errorf("Match(%q, %q) = %v, %v; want %v", c.pattern, c.name, got, err, c.want)
		}
	}
}

func TestMalformedIsNamed(t *testing.T) {
	for _, bad := range []string{"[", "[]", "a[", "{a", `a\`, "[a-", "x/[", "\xff["} {
		_, err := glob.Compile("*.c", bad)
		if regress.ClassOf(err) != regress.Input {
			t.Errorf("Compile(%q): class %v, err %v", bad, regress.ClassOf(err), err)
			continue
		}
		if printed := strings.ReplaceAll(bad, "\xff", "%FF"); !strings.Contains(err.Error(), "pattern "+printed+" is") {
			t.Errorf("Compile(%q): %v does not name it", bad, err)
		}
	}
}

func TestSetMatchesAny(t *testing.T) {
	s, err := glob.Compile("*.h", "ctx/**")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a.h": true, "ctx/a": true, "a.c": false} {
		if got := s.Match(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if (*glob.Set)(nil).Match("a") {
		t.Error("a nil Set matches")
	}
}

// What Compile lets through must never be found malformed later: Match would
// silently say no.
func FuzzMatch(f *testing.F) {
	f.Add("HDR_*", "lib/HDR_a.h")
	f.Add("{a,[b]}/**/\\*", "a/b/*")
	f.Add("\xff?[\x80-\xff]", "\xff\xfe\x81")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if strings.Count(pattern, "{") > 4 || len(pattern) > 64 {
			return // alternatives multiply; patterns come from the caller, not from the corpus
		}
		if clean, err := names.Clean(name); err != nil || clean != name {
			return
		}
		got, err := glob.Match(pattern, name)
		if err != nil {
			return
		}
		base := name[strings.LastIndexByte(name, '/')+1:]
		if !strings.Contains(pattern, "/") && got != mustMatch(t, pattern, base) {
			t.Fatalf("%q: %q and its base name differ", pattern, name)
		}
		if _, err := doublestar.Match(pattern, name); err != nil {
			t.Fatalf("%q was let through, and is malformed: %v", pattern, err)
		}
	})
}

func mustMatch(t *testing.T, pattern, name string) bool {
	t.Helper()
	ok, err := glob.Match(pattern, name)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}
