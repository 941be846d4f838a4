package plot_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/plot"
)

func draw(t *testing.T, c plot.Chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Muted lines are grey and below the others, which keep their colours. They share an entry in the legend.
func TestMutedLines(t *testing.T) {
	c := plot.Chart{Y: plot.Axis{Log: true}}
	for i, name := range []string{"grey 1", "ours", "grey 2", "theirs"} {
		c.Lines = append(c.Lines, plot.Line{Name: name, Muted: i%2 == 0, Points: []plot.Point{{X: 1, Y: float64(i + 1)}, {X: 2, Y: 9}}})
	}
	checkContains(t, drawnTexts(t, c), "ours", "theirs", "2 others")
	picture := draw(t, c)
	if strings.Contains(picture, "grey") {
		t.Error("the legend names a muted line")
	}
	plain := c
	plain.Lines = []plot.Line{c.Lines[1], c.Lines[3]}
	for _, colour := range regexp.MustCompile(`stroke:#[0-9A-F]{6};stroke-width:1.75`).FindAllString(draw(t, plain), -1) {
		if !strings.Contains(picture, colour) {
			t.Errorf("beside muted lines no line has %s", colour)
		}
	}
	if last, ours := strings.LastIndex(picture, "stroke:#A8A8A8"), strings.LastIndex(picture, "stroke:#0072B2"); last < 0 || last > ours {
		t.Error("a muted line covers another")
	}
	if c.Lines[0].Name != "grey 1" {
		t.Error("drawing changed the order of the caller's lines")
	}
}

// On a logarithmic axis the least bar is long enough to be seen.
func TestBarsOnLogAxis(t *testing.T) {
	c := plot.Chart{X: plot.Axis{Names: []string{"least", "middle", "most"}, Muted: []string{"middle"}}, Y: plot.Axis{Log: true}, Lines: bars(0, 10, 1, 900, 2, 20_000)}
	var lengths []float64
	for _, fill := range []string{"#0072B2", "#B8B8B8"} {
		for _, m := range regexp.MustCompile(`d="M([0-9.]+),[0-9.]+L([0-9.]+),[^"]*" style="fill:`+fill).FindAllStringSubmatch(draw(t, c), -1) {
			from, _ := strconv.ParseFloat(m[1], 64)
			to, _ := strconv.ParseFloat(m[2], 64)
			lengths = append(lengths, to-from)
		}
	}
	if len(lengths) != 3 || slices.Min(lengths) < 20 {
		t.Errorf("two blue bars and a grey one have the lengths %v, want at least 20", lengths)
	}
}

// A long label does not make the plot narrower or lower, also on logarithmic axes.
func TestLongLabels(t *testing.T) {
	size := func(label string) (right, top float64) {
		c := plot.Chart{X: plot.Axis{Label: label, Log: true}, Y: plot.Axis{Label: label, Log: true}, Lines: points(1, 1, 1e6, 1e6)}
		for _, m := range regexp.MustCompile(`d="M[0-9.]+,[0-9.]+L([0-9.]+),([0-9.]+)"`).FindAllStringSubmatch(draw(t, c), -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			y, _ := strconv.ParseFloat(m[2], 64)
			right, top = max(right, x), max(top, y)
		}
		return right, top
	}
	right, top := size("ns")
	if r, u := size(strings.Repeat("a long label ", 5)); r != right || u != top || right < 400 {
		t.Errorf("with a long label the plot ends at %g, %g, with a short one at %g, %g", r, u, right, top)
	}
}
