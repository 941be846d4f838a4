package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/results"
	"muster/lab/stat"
)

// A Report presents results to people.
type Report struct {
	document page.Document
	lines    []any // JSON lines beyond the figures: claims or advice
}

// Text writes the report for a terminal.
func (r Report) Text(w io.Writer) error { return page.Text(w, r.document) }

// HTML writes the report as one self-contained page with charts.
func (r Report) HTML(w io.Writer) error { return page.HTML(w, r.document) }

// JSON writes the report's own lines, and then the results.
func (r Report) JSON(w io.Writer, of *Results) error {
	e := json.NewEncoder(w)
	for _, line := range r.lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return of.WriteJSON(w)
}

// Charts returns the charts of the report, in its order.
func (r Report) Charts() (charts []plot.Chart) {
	for _, s := range r.document.Sections {
		charts = append(charts, slices.Concat(s.Pictures, s.Charts)...)
	}
	return charts
}

// linesMax is the largest number of lines that a chart highlights. Further lines are grey.
const linesMax = 6

// A view derives cells, points and warnings from results.
type view struct{ *Results }

// newDocument starts a report with the parts that all reports have.
func newDocument(r *Results, title string, lead ...string) page.Document {
	d := page.Document{Title: title, Lead: lead}
	for _, c := range r.Conditions {
		if c.Key == results.FormatKey {
			continue // describes the file, not the run
		}
		d.Conditions = append(d.Conditions, page.Pair{Name: c.Key, Value: c.Value})
	}
	if n := r.Disturbed(); n > 0 {
		d.Lead = append([]string{fmt.Sprintf("The machine was disturbed: other programs took more than %.0f %% of the processors' time while %d of %s were measured. "+
			"Elapsed times say little; measure again while the machine is idle.", 100*results.DisturbedMax, n, readable.Count(len(r.Names()), "figure"))}, d.Lead...)
	}
	if r.NotRun > 0 {
		what := fmt.Sprintf("%s measurements are missing.", readable.Number(int64(r.NotRun)))
		if r.NotRun == 1 {
			what = "one measurement is missing."
		}
		d.Lead = append([]string{"The run ended early: " + what + " Some figures rest on fewer runs than others, and – marks a figure without any."}, d.Lead...)
	}
	for _, m := range r.Missing {
		d.Conditions = append(d.Conditions, page.Pair{Name: "not here", Value: m.Peer + ": " + m.Text()})
	}
	d.Conditions = append(d.Conditions, alike(r, "failed", results.Failed)...)
	d.Conditions = append(d.Conditions, alike(r, "left out", results.TooLarge)...)
	return d
}

// alike names the absent figures whose reason has a prefix, one line for each reason.
func alike(r *Results, title, prefix string) (lines []page.Pair) {
	names := map[string][]string{}
	for _, a := range r.Absent {
		if why, found := strings.CutPrefix(a.Why, prefix); found {
			names[why] = append(names[why], a.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(names)) {
		lines = append(lines, page.Pair{Name: title, Value: andMore(names[why][0], len(names[why])-1) + ": " + why})
	}
	return lines
}

// andMore adds the number of others to a text.
func andMore(text string, others int) string {
	if others > 0 {
		text += fmt.Sprintf(" and %d more", others)
	}
	return text
}

// medianCell returns the median of a benchmark, divided by divisor, and the spread of its
// interval. Without a figure it returns the reason.
func (r view) medianCell(name, unit string, divisor float64) page.Cell {
	s := r.Summary(name, unit)
	if s.N == 0 {
		return page.Cell{Text: reasonText(r.Why(name))}
	}
	return page.Cell{Text: digits(s.Median/divisor) + spreadText(s)}
}

// reasonText shortens the reason for an absent figure to fit a cell.
func reasonText(why string) string {
	switch {
	case why == "" || why == results.NoSuchMode:
		return "–"
	case why == results.TooLong, strings.HasPrefix(why, results.TooLarge):
		return "left out"
	case strings.HasPrefix(why, results.Failed):
		return "failed"
	}
	return why
}

// spreadText formats the distance to the farther end of the interval, if it is 0.5 % or more.
func spreadText(s stat.Summary) string {
	if spread := s.Spread(); spread >= 0.005 {
		return fmt.Sprintf(" ±%.0f%%", 100*spread)
	}
	return ""
}

// ratioText formats a ratio with its interval.
func ratioText(s stat.Summary) string {
	if s.N == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.Median, 'f', 2, 64) + spreadText(s)
}

// digits formats a number with three significant digits.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0:
		return "-" + digits(-v)
	case v == math.Trunc(v):
		return readable.Number(int64(v))
	case v >= 100:
		return readable.Number(int64(v + 0.5))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0001:
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// texts returns the text of each element of a list.
func texts[T any](list []T, text func(T) string) (all []string) {
	for _, one := range list {
		all = append(all, text(one))
	}
	return all
}

// A sheet is a section in the making. It remembers the figures of its cells, for its warnings.
type sheet struct {
	view
	page.Section
	names []string
}

// A column of a grid has the median of a benchmark in each row, or another cell.
type column struct {
	title   string
	unit    string
	divisor float64 // 0 = 1
	best    bool    // marks the least figure
	name    func(row int) string
	cell    func(row int) page.Cell // instead of a median
}

// grid adds a table with a row for each title. The corner is the title of the first column.
func (s *sheet) grid(caption, corner string, rows []string, columns ...column) {
	t := page.Table{Caption: caption, Columns: []page.Column{{Title: corner}}}
	for _, title := range rows {
		t.Rows = append(t.Rows, page.Row(title))
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, page.Column{Title: c.title, Right: true})
		best, least := -1, 0.0
		for row := range rows {
			if c.cell != nil {
				t.Rows[row] = append(t.Rows[row], c.cell(row))
				continue
			}
			name := c.name(row)
			s.names = append(s.names, name)
			t.Rows[row] = append(t.Rows[row], s.medianCell(name, c.unit, cmp.Or(c.divisor, 1)))
			if m := s.Summary(name, c.unit); c.best && m.N > 0 && (best < 0 || m.Median < least) {
				best, least = row, m.Median
			}
		}
		if best >= 0 {
			t.Rows[best][len(t.Columns)-1].Class = page.Best
		}
	}
	s.Tables = append(s.Tables, t)
}

// warned returns the section with the warnings about its figures.
func (s *sheet) warned() page.Section {
	s.Warnings = s.warnings(s.names)
	return s.Section
}

// columns returns a column for each element of a list.
func columns[T any](list []T, of func(T) column) (all []column) {
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}

// warnings summarises the warnings about benchmarks, one line per kind. A line names a few of the
// affected figures, and the number of the others.
func (r view) warnings(names []string) (lines []string) {
	slices.Sort(names)
	found := r.WarningsOf(slices.DeleteFunc(r.Names(), func(name string) bool { _, had := slices.BinarySearch(names, name); return !had }))
	const few = 3
	for _, k := range []stat.Kind{stat.TooShort, stat.TooNoisy, stat.OneCore, stat.ElidingSuspected} {
		text, n := "", 0
		for _, w := range found {
			switch {
			case w.Kind != k:
				continue
			case n == 0:
				text = fmt.Sprintf("%v, %s: %s", k, w.Name, w.Text)
			case n == 1:
				text += "; likewise " + w.Name
			case n < few:
				text += ", " + w.Name
			}
			n++
		}
		if n > 0 {
			lines = append(lines, andMore(text, n-few))
		}
	}
	return lines
}

// howMeasured describes how the figures were taken, for a number of runs.
func howMeasured(count int) string {
	switch {
	case count <= 1:
		return "Each figure is one run in a process of its own, so it has no confidence interval."
	case count < stat.SamplesMin:
		return fmt.Sprintf("Each figure is the median of %d runs, taken in turns, each in a process of its own. ± is the distance to the farthest run; a confidence interval of 95 %% needs %d runs.", count, stat.SamplesMin)
	}
	return fmt.Sprintf("Each figure is the median of %d runs, taken in turns, each in a process of its own. ± is the distance to the farther end of its 95 %% confidence interval.", count)
}

// figuresTable returns a table with a row for each benchmark and unit.
func (r view) figuresTable() page.Table {
	t := page.Table{Caption: "medians", Columns: []page.Column{{Title: "benchmark"}, {Title: "figure", Right: true}, {Title: "unit"}, {Title: "runs", Right: true}}}
	for _, name := range r.Names() {
		for _, unit := range r.Units(name) {
			t.Rows = append(t.Rows, append(page.Row(name), r.medianCell(name, unit, 1), page.Cell{Text: unit}, page.Cell{Text: fmt.Sprint(len(r.Figures(name, unit)))}))
		}
	}
	return t
}

// medianLine returns a line with a median at each x: that of the benchmark whose name of returns.
func (r view) medianLine(name string, xs []int, unit string, of func(x int) string) plot.Line {
	l := plot.Line{Name: name}
	for _, x := range xs {
		l.Points = append(l.Points, r.medianPoint(float64(x), of(x), unit)...)
	}
	return l
}

// medianPoint returns the point of a benchmark's median, or no point without a figure.
func (r view) medianPoint(x float64, name, unit string) []plot.Point {
	return summaryPoint(x, r.Summary(name, unit))
}

// summaryPoint returns a median with its interval. One sample has no interval.
func summaryPoint(x float64, s stat.Summary) []plot.Point {
	switch s.N {
	case 0:
		return nil
	case 1:
		return []plot.Point{{X: x, Y: s.Median}}
	}
	return []plot.Point{{X: x, Y: s.Median, Low: s.Low, High: s.High}}
}

// scaledPoint is like medianPoint, in another unit.
func (r view) scaledPoint(x float64, name, unit string, factor float64) []plot.Point {
	points := r.medianPoint(x, name, unit)
	for i := range points {
		p := &points[i]
		p.Y, p.Low, p.High = p.Y*factor, p.Low*factor, p.High*factor
	}
	return points
}

// bars returns a chart with a bar for each thing with a figure, the least one first: its median
// divided by divisor. The axis is logarithmic.
func (r view) bars(title, label string, things []string, unit string, divisor float64, nameOf func(thing string) string) []plot.Chart {
	type bar struct {
		thing string
		point plot.Point
	}
	var all []bar
	for _, thing := range things {
		for _, p := range r.scaledPoint(0, nameOf(thing), unit, 1/divisor) {
			all = append(all, bar{thing, p})
		}
	}
	slices.SortStableFunc(all, func(a, b bar) int { return cmp.Compare(a.point.Y, b.point.Y) })
	c := plot.Chart{Title: title, X: plot.Axis{Names: []string{}}, Y: plot.Axis{Label: label + ", logarithmic", Log: true}, Lines: []plot.Line{{Name: label, Form: plot.Bars}}}
	for _, b := range all {
		if b.point.Y <= 0 {
			continue // cannot be on a logarithmic axis
		}
		b.point.X = float64(len(c.X.Names))
		c.X.Names = append(c.X.Names, b.thing)
		c.Lines[0].Points = append(c.Lines[0].Points, b.point)
	}
	return c.Drawable()
}
