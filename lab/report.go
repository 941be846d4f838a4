package lab

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/lab/page"
	"muster/lab/plot"
	"muster/lab/stat"
)

// A Report is results as people read them.
type Report struct {
	document page.Document
	lines    []any // of its own, as JSON: what it says beside the figures
}

// Text writes the report for a terminal.
func (r Report) Text(w io.Writer) error { return page.Text(w, r.document) }

// HTML writes the report as one page with plots, which needs no other file.
func (r Report) HTML(w io.Writer) error { return page.HTML(w, r.document) }

// newDocument begins a report with what every one has.
func newDocument(r *Results, title string, lead ...string) page.Document {
	d := page.Document{Title: title, Lead: lead}
	for _, c := range r.Conditions {
		if c.Key == formatKey {
			continue // of the file, which this is not
		}
		d.Conditions = append(d.Conditions, page.Pair{Name: c.Key, Value: c.Value})
	}
	if r.NotRun > 0 {
		what := fmt.Sprintf("%s measurements are missing", grouped(int64(r.NotRun)))
		if r.NotRun == 1 {
			what = "one measurement is missing"
		}
		d.Lead = append([]string{"The run ended before its time and " + what + ": some figures are of fewer runs than others, and – is where there is none."}, d.Lead...)
	}
	for _, m := range r.Missing {
		d.Conditions = append(d.Conditions, page.Pair{Name: "not here", Value: fmt.Sprintf("%s: %s; on Debian %s brings what it needs", m.Peer, m.Reason, m.Install)})
	}
	return d
}

func (r *Results) summary(name, unit string) stat.Summary {
	return stat.Summarize(r.Figures(name, unit))
}

// cell is the median of a benchmark in a unit, each divided by so much, with how far the
// interval reaches; or why there is none.
func (r *Results) cell(name, unit string, divisor float64) page.Cell {
	s := r.summary(name, unit)
	if s.N == 0 {
		why := r.absent(name)
		if why == string(noSuchMode) || why == "" {
			why = "–"
		}
		return page.Cell{Text: why}
	}
	text := digits(s.Median / divisor)
	if spread := s.Spread(); spread >= 0.005 {
		text += fmt.Sprintf(" ±%.0f%%", 100*spread)
	}
	return page.Cell{Text: text}
}

// digits writes a number with three digits that matter.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0:
		return "-" + digits(-v)
	case v == math.Trunc(v):
		return grouped(int64(v))
	case v >= 100:
		return grouped(int64(v + 0.5))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0001:
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// grouped writes a whole number with its thousands apart.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// columns are a first one of words, and others of numbers.
func columns(first string, others ...string) []page.Column {
	c := []page.Column{{Title: first}}
	for _, title := range others {
		c = append(c, page.Column{Title: title, Right: true})
	}
	return c
}

// markBest marks the least of the figures of one unit among rows; names of rows without
// a figure are empty.
func (r *Results) markBest(rows [][]page.Cell, column int, unit string, names []string) {
	best, least := -1, 0.0
	for i, name := range names {
		if s := r.summary(name, unit); s.N > 0 && (best < 0 || s.Median < least) {
			best, least = i, s.Median
		}
	}
	if best >= 0 {
		rows[best][column].Class = page.Best
	}
}

// warnings tells what is wrong with benchmarks, a line for each kind.
func (r *Results) warnings(names []string) (lines []string) {
	found := r.warningsOf(names)
	for _, k := range []stat.Kind{stat.TooShort, stat.TooNoisy, stat.OneCore, stat.ElidingSuspected} {
		var alike []Warning
		for _, w := range found {
			if w.Kind == k {
				alike = append(alike, w)
			}
		}
		if len(alike) > 0 {
			lines = append(lines, warningLine(alike))
		}
	}
	return lines
}

// warningLine names a few of the figures, and how many more there are.
func warningLine(alike []Warning) string {
	const few = 3
	text := fmt.Sprintf("%v, %s: %s", alike[0].Kind, alike[0].Name, alike[0].Text)
	var others []string
	for _, w := range alike[1:min(len(alike), few)] {
		others = append(others, w.Name)
	}
	if len(others) > 0 {
		text += "; likewise " + strings.Join(others, ", ")
	}
	if more := len(alike) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// howMeasured says how each figure comes about that was taken so often.
func howMeasured(count int) string {
	switch {
	case count <= 1:
		return "Each figure is one run in a process of its own: nothing tells how far chance has moved it."
	case count < stat.SamplesMin:
		return fmt.Sprintf("Each figure is the median of %d runs, each in a process of its own, in turns; ± is how far the runs reach from it, for an interval at 95 %% takes %d.", count, stat.SamplesMin)
	}
	return fmt.Sprintf("Each figure is the median of %d runs, each in a process of its own, in turns; ± is how far its interval at 95 %% reaches.", count)
}

// drawable is the chart with what can be drawn of it: points that an axis has a place
// for, and lines that have such. Without any there is no chart.
func drawable(c plot.Chart) []plot.Chart {
	var lines []plot.Line
	for _, l := range c.Lines {
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p plot.Point) bool { return !c.Draws(p) })
		if len(l.Points) > 0 {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	c.Lines = lines
	return []plot.Chart{c}
}
