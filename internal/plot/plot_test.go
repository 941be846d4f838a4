package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/internal/plot"
)

// drawnTexts draws the chart and returns its texts. It fails if the picture is not well-formed
// XML or has a number that is not finite.
func drawnTexts(t rapid.TB, c plot.Chart) (found []string) {
	t.Helper()
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Fatalf("the picture has a number that is not finite:\n%s", s)
	}
	d, inText := xml.NewDecoder(&b), false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				found = append(found, string(token))
			}
		}
	}
}

func checkContains(t *testing.T, got []string, want ...string) {
	t.Helper()
	all := "\n" + strings.Join(got, "\n") + "\n"
	for _, w := range want {
		if !strings.Contains(all, "\n"+w+"\n") {
			t.Errorf("the picture lacks the text %q: %q", w, got)
		}
	}
}

func TestPowersOfTwoAreTicks(t *testing.T) {
	checkContains(t, drawnTexts(t, portions()), "Channel: time per portion of 100,000 items", "GOMAXPROCS", "seconds per portion",
		"no ballast", "1000 cycles", "1", "2", "4", "8", "16", "32", "64", "128", "256", "0", "0.1")
}

func TestDecadesAreTicks(t *testing.T) {
	checkContains(t, drawnTexts(t, ratios()), "1", "10", "10²", "10³", "10⁴", "10⁵", "10⁶", "5000 square roots")
}

func points(xy ...float64) (line []plot.Line) {
	line = []plot.Line{{Name: "a"}}
	for i := 0; i < len(xy); i += 2 {
		line[0].Points = append(line[0].Points, plot.Point{X: xy[i], Y: xy[i+1]})
	}
	return line
}

func TestTicks(t *testing.T) {
	log, linear := plot.Axis{Log: true}, plot.Axis{}
	for name, c := range map[string]struct {
		chart plot.Chart
		want  []string
	}{
		"one point":           {plot.Chart{X: linear, Y: linear, Lines: points(7, 3)}, []string{"6", "8", "0", "3"}},
		"one point, log":      {plot.Chart{X: log, Y: log, Lines: points(7, 3)}, []string{"5", "10", "2"}},
		"one point at 0":      {plot.Chart{X: linear, Y: linear, Lines: points(0, 0)}, []string{"−0.5", "0", "0.5"}},
		"thousands":           {plot.Chart{X: linear, Y: linear, Lines: points(0, 0, 4e6, 12)}, []string{"1,000,000"}},
		"millions":            {plot.Chart{X: linear, Y: linear, Lines: points(0, 0, 5e9, 12)}, []string{"10⁹", "2·10⁹"}},
		"small":               {plot.Chart{X: linear, Y: log, Lines: points(1, 1e-9, 2, 1e-3)}, []string{"1e-9", "1e-6", "0.001"}},
		"within a decade":     {plot.Chart{X: linear, Y: log, Lines: points(1, 15, 2, 70)}, []string{"20", "50"}},
		"within a digit":      {plot.Chart{X: linear, Y: log, Lines: points(1, 3.1, 2, 4.2)}, []string{"3.2", "4"}},
		"many decades":        {plot.Chart{X: linear, Y: log, Lines: points(1, 1, 2, 1e40)}, []string{"1", "10³⁰"}},
		"below 0":             {plot.Chart{X: linear, Y: linear, Lines: points(1, -30, 2, -60)}, []string{"−60", "0"}},
		"many powers of two":  {plot.Chart{X: log, Y: linear, Lines: points(1, 1, 1<<20, 2)}, []string{"1", "4", "1,048,576"}},
		"far away and narrow": {plot.Chart{X: linear, Y: linear, Lines: points(1e16, 1, 1e16+2, 2)}, []string{"10¹⁶"}},
	} {
		t.Run(name, func(t *testing.T) { checkContains(t, drawnTexts(t, c.chart), c.want...) })
	}
}

// An axis that includes 0 has no negative numbers if all values are 0.
func TestOnlyZeros(t *testing.T) {
	for _, text := range drawnTexts(t, plot.Chart{Lines: points(0, 0, 4, 0)}) {
		if strings.HasPrefix(text, "−") {
			t.Errorf("%s is on an axis", text)
		}
	}
}

func TestRefusals(t *testing.T) {
	line := func(p plot.Point) []plot.Line {
		return []plot.Line{{Name: "bad line", Points: []plot.Point{{X: 1, Y: 1}, p}}}
	}
	names := plot.Axis{Names: []string{"a", "b"}}
	for name, c := range map[string]plot.Chart{
		"no lines":                {},
		"a line without points":   {Lines: []plot.Line{{Name: "bad line"}}},
		"NaN":                     {Lines: line(plot.Point{X: 2, Y: math.NaN()})},
		"an infinite x":           {Lines: line(plot.Point{X: math.Inf(1), Y: 1})},
		"an interval without end": {Lines: line(plot.Point{X: 2, Y: 1, Low: 0, High: math.Inf(1)})},
		"0 on a log axis":         {Y: plot.Axis{Log: true}, Lines: line(plot.Point{X: 2, Y: 0})},
		"below 0 on a log axis":   {X: plot.Axis{Log: true}, Lines: line(plot.Point{X: -2, Y: 1})},
		"too large":               {Lines: line(plot.Point{X: 2, Y: 1e300})},
		"too small":               {Lines: line(plot.Point{X: 2, Y: 5e-324})},
		"two lines over names":    {X: names, Lines: slices.Concat(bars(0, 1), bars(1, 2))},
		"a curve over names":      {X: names, Lines: points(0, 1, 1, 2)},
		"a bar without a name":    {X: names, Lines: bars(0, 1, 2, 2)},
		"a bar between two names": {X: names, Lines: bars(0.5, 1)},
		"outside its interval":    {Lines: line(plot.Point{X: 2, Y: 1, Low: 2, High: 3})},
	} {
		c.Title = "bad chart"
		var b bytes.Buffer
		if err := c.SVG(&b); err == nil || !strings.Contains(err.Error(), `"bad chart" cannot be drawn`) || b.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes", name, err, b.Len())
		}
	}
}

// A confidence interval can reach 0 or less although its median does not.
func TestIntervalBelowALogAxis(t *testing.T) {
	drawnTexts(t, plot.Chart{Y: plot.Axis{Log: true}, Lines: []plot.Line{{Points: []plot.Point{
		{X: 1, Y: 10, Low: -1, High: 20}, {X: 2, Y: 10, Low: 1e-20, High: 20}, {X: 3, Y: 12, Low: 0, High: 12},
	}}}})
}

func TestHostileText(t *testing.T) {
	evil := "</text><script>alert(1)</script>\x1b[2J\xff\n\u202e\"'& style=\"font-family:Liberation Sans;"
	c := portions()
	c.Title, c.X.Label, c.Y.Label, c.Lines[0].Name = evil, evil, evil, strings.Repeat(evil, 50)
	got := strings.Join(drawnTexts(t, c), "\n")
	if n := strings.Count(got, "<script>alert(1)</script>\ufffd[2J\ufffd\ufffd\ufffd\"'& "); n != 4 {
		t.Errorf("%d of 4 texts came through: %q", n, got)
	}
}

func TestEqualChartsGiveEqualBytes(t *testing.T) {
	var a, b bytes.Buffer
	if err := errors.Join(ratios().SVG(&a), ratios().SVG(&b)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two drawings of one chart differ")
	}
}

func TestDrawingDoesNotChangeTheChart(t *testing.T) {
	c := plot.Chart{Lines: points(3, 1, 1, 1, 2, 1)}
	drawnTexts(t, c)
	if first := c.Lines[0].Points[0].X; first != 3 {
		t.Errorf("drawing put the caller's points into another order: the first is %v", first)
	}
}

func TestNumber(t *testing.T) {
	for want, v := range map[string]float64{
		"0": 0, "−0.25": -0.25, "1,234,567": 1234567, "0.3333": 0.33333333, "−1,000": -1000, "1": 1,
		"1.235·10⁷": 12345678, "−2·10⁹": -2e9, "1e-6": 1e-6, "3.3e-7": 3.3e-7, "10⁷": 1e7,
		"?": math.NaN(), "∞": math.Inf(1),
	} {
		digits := 4
		if v == 1234567 {
			digits = 7
		}
		if got := plot.Number(v, digits); got != want {
			t.Errorf("Number(%v, %d) = %q, want %q", v, digits, got, want)
		}
	}
	if got := plot.Number(20_000_000, 1); got != "2·10⁷" {
		t.Errorf("with one digit 20 million is %q", got)
	}
}

// Every chart that passes the checks is drawn.
func TestAnyChart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := plot.Chart{
			Title: rapid.String().Draw(t, "title"),
			X:     plot.Axis{Label: rapid.String().Draw(t, "x"), Log: rapid.Bool().Draw(t, "logX")},
			Y:     plot.Axis{Label: rapid.String().Draw(t, "y"), Log: rapid.Bool().Draw(t, "logY")},
		}
		value := rapid.Float64Range(-1e290, 1e290)
		if rapid.Bool().Draw(t, "tame") {
			value = rapid.Float64Range(-1e7, 1e7)
		}
		for range rapid.IntRange(1, 12).Draw(t, "lines") {
			l := plot.Line{Name: rapid.String().Draw(t, "name")}
			for range rapid.IntRange(1, 5).Draw(t, "points") {
				p := plot.Point{X: value.Draw(t, "X"), Y: value.Draw(t, "Y")}
				if c.X.Log {
					p.X = max(math.Abs(p.X), 1e-290)
				}
				if c.Y.Log {
					p.Y = max(math.Abs(p.Y), 1e-290)
				}
				if rapid.Bool().Draw(t, "interval") {
					p.Low, p.High = min(p.Y, value.Draw(t, "low")), max(p.Y, value.Draw(t, "high"))
				}
				l.Points = append(l.Points, p)
			}
			c.Lines = append(c.Lines, l)
		}
		if c.SVG(io.Discard) == nil {
			drawnTexts(t, c)
		}
	})
}

// bars is like points, as bars.
func bars(xy ...float64) []plot.Line {
	lines := points(xy...)
	lines[0].Form = plot.Bars
	return lines
}

// Bars over names show each name with its value, from the top down, and need no legend.
func TestNames(t *testing.T) {
	c := plot.Chart{Title: "Time per task", X: plot.Axis{Names: []string{"first", "se<cond", "third"}}, Y: plot.Axis{Label: "ns per task"}, Lines: bars(0, 38.27, 1, 411.9, 2, 2500)}
	c.Lines[0].Points[1].Low, c.Lines[0].Points[1].High = 400, 2900
	got := drawnTexts(t, c)
	checkContains(t, got, "Time per task", "ns per task", "first", "se<cond", "third", "38.3", "412", "2,500", "3,000")
	if slices.Contains(got, "a") {
		t.Errorf("the picture has a legend: %q", got)
	}
	heights := map[string]float64{}
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`<text [^>]*y="(-?[0-9.]+)"[^>]*\n?[^>]*>(first|third)<`).FindAllStringSubmatch(b.String(), -1) {
		heights[m[2]], _ = strconv.ParseFloat(m[1], 64)
	}
	if len(heights) != 2 || heights["first"] >= heights["third"] {
		t.Errorf("the first name is not above the third: %v\n%s", heights, b.String())
	}
}

// Lines that share a marker differ in their dashes, for readers who see no colours.
func TestManyLinesHaveDashes(t *testing.T) {
	for lines, want := range map[int]int{7: 0, 8: 1, 14: 1, 15: 2} {
		c := plot.Chart{}
		for range lines {
			c.Lines = append(c.Lines, points(1, 2, 10, 20)...)
		}
		var b bytes.Buffer
		if err := c.SVG(&b); err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		for _, found := range regexp.MustCompile(`stroke-dasharray:[0-9,. ]+`).FindAllString(b.String(), -1) {
			kinds[found] = true
		}
		if len(kinds) != want {
			t.Errorf("%d lines have the dashes %v, want %d kinds", lines, kinds, want)
		}
	}
}

// Each form is drawn, over linear and logarithmic axes, and named in the legend.
func TestForms(t *testing.T) {
	pictures := map[string]bool{}
	for _, form := range []plot.Form{plot.Joined, plot.Cloud, plot.Rule, plot.Bars} {
		for _, log := range []bool{false, true} {
			line := points(1, 2, 10, 20, 100, 5)[0]
			line.Form = form
			c := plot.Chart{X: plot.Axis{Log: log}, Y: plot.Axis{Log: log}, Lines: []plot.Line{line}}
			checkContains(t, drawnTexts(t, c), "a")
			var b bytes.Buffer
			if err := c.SVG(&b); err != nil {
				t.Fatal(err)
			}
			pictures[b.String()] = true
		}
	}
	if len(pictures) != 8 {
		t.Errorf("%d different pictures of 8", len(pictures))
	}
}
