package palette

import "testing"

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		paint Painter
		style Style
		text  string
		want  string
	}{
		{true, Red, "x", "\x1b[31mx\x1b[0m"},
		{true, AddedMark, "x", "\x1b[1;4;32mx\x1b[0m"},
		{true, Plain, "x", "x"},
		{true, Bold, "", ""},
		{false, Bold, "x", "x"},
	} {
		if got := c.paint.Paint(c.style, c.text); got != c.want {
			t.Errorf("%v %q of %q: %q, want %q", c.paint, c.style, c.text, got, c.want)
		}
	}
}

func TestColourless(t *testing.T) {
	for style, want := range map[Style]Style{RemovedMark: Mark, Cyan: Plain, Reverse: Reverse, Plain: Plain, Bold: Bold} {
		if got := style.Colourless(); got != want {
			t.Errorf("%q: %q, want %q", style, got, want)
		}
	}
}
