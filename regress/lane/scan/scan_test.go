package scan

import (
	"slices"
	"strings"
	"testing"
)

// TestAsStrings compares every function with that of the standard library.
func TestAsStrings(t *testing.T) {
	for _, s := range []string{"", "/", "a", "//", " a  b\tc\n", "/a/./b/../c/", "self/fd/1", "ä\xff\xfe€\xff", "\xffa", "� �", "VmHWM:\t  2340 kB"} {
		for _, c := range []byte("/ a\x00") {
			before, after, found := strings.Cut(s, string(c))
			if b, a, f := Cut(s, c); b != before || a != after || f != found {
				t.Errorf("Cut(%q, %q) gave %q, %q, %v", s, c, b, a, f)
			}
			if got := LastIndex(s, c); got != strings.LastIndexByte(s, c) {
				t.Errorf("LastIndex(%q, %q) gave %d", s, c, got)
			}
			if got := slices.Collect(Split(s, c)); !slices.Equal(got, strings.Split(s, string(c))) {
				t.Errorf("Split(%q, %q) gave %q", s, c, got)
			}
		}
		if got := slices.Collect(Fields(s)); !slices.Equal(got, strings.Fields(s)) {
			t.Errorf("Fields(%q) gave %q", s, got)
		}
		for _, part := range []string{"", "/", "//", "/.", "a", "/a/", "€", s, s + "x"} {
			after, cut := strings.CutPrefix(s, part)
			if a, c := CutPrefix(s, part); a != after || c != cut || HasPrefix([]byte(s), part) != cut {
				t.Errorf("CutPrefix(%q, %q) gave %q, %v", s, part, a, c)
			}
			if HasSuffix(s, part) != strings.HasSuffix(s, part) || Contains(s, part) != strings.Contains(s, part) {
				t.Errorf("HasSuffix or Contains of %q, %q is wrong", s, part)
			}
		}
		if got := Valid(s); got != strings.ToValidUTF8(s, "?") {
			t.Errorf("Valid(%q) gave %q", s, got)
		}
	}
	for part := range Split("a/b", '/') {
		if part != "a" {
			t.Error("Split went on after a break")
		}
		break
	}
}
