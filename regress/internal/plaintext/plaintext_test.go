package plaintext

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIs(t *testing.T) {
	random := []byte{0x9f, 0x13, 0x42, 0xe1, 0x07, 0xfe, 0x55, 0xc3, 0x01, 0x28, 0xb5, 0x2f, 0xfd, 0x61, 0x90, 0x1c}
	for name, c := range map[string]struct {
		content []byte
		want    bool
	}{
		"nothing":               {nil, true},
		"words":                 {[]byte("one two\n"), true},
		"colours":               {[]byte("\x1b[31mred\x1b[0m\n"), true},
		"a form feed per page":  {[]byte("one\f\ntwo\f\n"), true},
		"Russian in KOI8-R":     {bytes.Repeat([]byte{0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4, ' '}, 50), true},
		"German in Latin-1":     {[]byte("gr\xfc\xdfe aus K\xf6ln\n"), true},
		"a bell alone":          {[]byte("done\a\n"), true},
		"Japanese, cut at 8 KB": {[]byte(strings.Repeat("日本語\a日本語日本語日本語", 500)), true},
		"… one byte on":         {[]byte("x" + strings.Repeat("日本語\a日本語日本語日本語", 500)), true},
		"… two bytes on":        {[]byte("xx" + strings.Repeat("日本語\a日本語日本語日本語", 500)), true},
		"… three bytes on":      {[]byte("xxx" + strings.Repeat("日本語\a日本語日本語日本語", 500)), true},
		"a NUL":                 {[]byte("one\x00two"), false},
		"a NUL far behind":      {append(bytes.Repeat([]byte("x"), 1<<16), 0), false},
		"compressed":            {random, false},
		"control characters":    {[]byte("a\x01b\x02c\x03d"), false},
		"few of them in UTF-8":  {[]byte("a bell\a in a line of some length"), true},
	} {
		if got := Is(c.content); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Both are as long as they can be.
func TestCommonEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		same := bytes.Repeat([]byte("x"), rapid.IntRange(0, 600).Draw(t, "same"))
		a := rapid.SliceOfN(rapid.SampledFrom([]byte("xy")), 0, 3).Draw(t, "a")
		b := rapid.SliceOfN(rapid.SampledFrom([]byte("xy")), 0, 3).Draw(t, "b")
		front, back := [2][]byte{append(same[:len(same):len(same)], a...), append(same[:len(same):len(same)], b...)}, [2][]byte{append(a[:len(a):len(a)], same...), append(b[:len(b):len(b)], same...)}
		n, m := CommonPrefix(front[0], front[1]), CommonSuffix(back[0], back[1])
		if !bytes.Equal(front[0][:n], front[1][:n]) || n < min(len(front[0]), len(front[1])) && front[0][n] == front[1][n] {
			t.Fatalf("prefix of %d: %q %q", n, front[0], front[1])
		}
		x, y := back[0], back[1]
		if !bytes.Equal(x[len(x)-m:], y[len(y)-m:]) || m < min(len(x), len(y)) && x[len(x)-m-1] == y[len(y)-m-1] {
			t.Fatalf("suffix of %d: %q %q", m, x, y)
		}
	})
}

func TestLines(t *testing.T) {
	text := []byte("a\nbc\n\nd")
	if got := SplitLines(text); strings.Join(got, "|") != "a\n|bc\n|\n|d" || CountLines(text) != len(got) {
		t.Errorf("%q", got)
	}
	if Back(text, 6, 2) != 2 || Back(text, 2, 5) != 0 || Forth(text, 2, 2) != 6 || Forth(text, 0, 9) != len(text) {
		t.Error("lines are counted wrongly")
	}
	for at, want := range [][2]int{{0, 2}, {0, 2}, {2, 5}, {2, 5}, {2, 5}, {5, 6}, {6, 7}, {6, 7}} {
		if from, to := LineStart(text, at), LineEnd(text, at); from != want[0] || to != want[1] {
			t.Errorf("%d: %d to %d", at, from, to)
		}
	}
}
