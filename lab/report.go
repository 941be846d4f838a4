package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/lab/page"
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

// HTML writes the report as one self-contained page with plots.
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
	for _, a := range r.Absent {
		if why, failed := strings.CutPrefix(a.Why, results.Failed); failed {
			d.Conditions = append(d.Conditions, page.Pair{Name: "failed", Value: a.Name + ": " + why})
		}
	}
	return d
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
	case why == results.TooLong:
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

// ratioText formats a ratio without its interval, because the figures beside it show theirs.
func ratioText(s stat.Summary) string {
	if s.N == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.Median, 'f', 2, 64)
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

// newColumns returns a column of words, followed by columns of numbers.
func newColumns(first string, others ...string) []page.Column {
	c := []page.Column{{Title: first}}
	for _, title := range others {
		c = append(c, page.Column{Title: title, Right: true})
	}
	return c
}

// markBest marks the least figure of a column. A name is "" for a row without a figure.
func (r view) markBest(rows [][]page.Cell, column int, unit string, names []string) {
	best, least := -1, 0.0
	for i, name := range names {
		if s := r.Summary(name, unit); s.N > 0 && (best < 0 || s.Median < least) {
			best, least = i, s.Median
		}
	}
	if best >= 0 {
		rows[best][column].Class = page.Best
	}
}

// warnings summarises the warnings about benchmarks, one line per kind.
func (r view) warnings(names []string) (lines []string) {
	found := r.WarningsOf(names)
	for _, k := range []stat.Kind{stat.TooShort, stat.TooNoisy, stat.OneCore, stat.ElidingSuspected} {
		var alike []results.Warning
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

// warningLine names a few of the affected figures, and the number of the others.
func warningLine(alike []results.Warning) string {
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
