package diff

import "testing"

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		name, old, now string
		change         Change
		want           string
	}{
		{"a word within a line", "a\nb\nlong x = 1ll;\nc\nd\ne\n", "a\nb\nlong x = 1LL;\nc\nd\ne\n", Change{14, 16, 14, 16}, " a\n b\n-long x = 1ll;\n+long x = 1LL;\n c\n d\n"},
		{"whole lines put in", "a\nb\n", "a\nx\nb\n", Change{2, 2, 2, 4}, " a\n+x\n b\n"},
		{"the end of a text", "a", "ab", Change{1, 1, 1, 2}, "-a\n\\ No newline at end of file\n+ab\n\\ No newline at end of file\n"},
		{"beyond the text", "a", "b", Change{0, 9, 0, 1}, ""},
		{"no text", "a\x00", "b\x00", Change{0, 1, 0, 1}, ""},
	} {
		if got := Excerpt([]byte(c.old), []byte(c.now), c.change); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
