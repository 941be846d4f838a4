package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"muster/internal/plot"
)

// view is a document prepared for both outputs: its texts are printable, its rows have equal
// lengths, and each chart has its data as a table.
type (
	view struct {
		Document // without its sections
		Sections []section
	}
	section struct {
		Section // without its tables and charts
		ID      string
		Charts  []chart
		Tables  []table
	}
	chart struct {
		source plot.Chart
		Title  string
		Data   table
		drawn  bool // only drawn: the text leaves it out
	}
	table struct {
		Caption string
		Columns []column
		Rows    [][]cell
		Key     []string // meanings of its marks
	}
	column struct {
		Column
		Marked bool // at least one cell has a mark, so all reserve room for one
	}
	cell struct {
		Text, Mark, Words string
		Verdict           bool
		Class             string // CSS classes
	}
)

func newView(d Document) view {
	v := view{Document: Document{Title: printable(d.Title), Lead: printables(d.Lead)}}
	for _, p := range d.Conditions {
		v.Conditions = append(v.Conditions, Pair{printable(p.Name), printable(p.Value)})
	}
	ids := map[string]int{"contents": 1, "conditions": 1}
	for _, s := range d.Sections {
		to := section{ID: newID(ids, s.Title), Section: Section{
			Title: printable(s.Title), Text: printables(s.Text), Warnings: printables(s.Warnings), Notes: printables(s.Notes)}}
		for _, t := range s.Tables {
			to.Tables = append(to.Tables, newTable(t))
		}
		for i, c := range slices.Concat(s.Pictures, s.Charts) {
			to.Charts = append(to.Charts, chart{c, printable(c.Title), newTable(chartData(c)), i < len(s.Pictures)})
		}
		v.Sections = append(v.Sections, to)
	}
	return v
}

// spreadKey explains a spread beside a figure.
const spreadKey = "± the distance from the value to the farther end of its interval"

func newTable(t Table) table {
	to, spread := table{Caption: printable(t.Caption)}, false
	for _, c := range t.Columns {
		to.Columns = append(to.Columns, column{Column: Column{printable(c.Title), c.Right}})
	}
	for _, row := range t.Rows {
		cells := make([]cell, len(t.Columns))
		for k, c := range row {
			cells[k] = newCell(c)
			if t.Columns[k].Right {
				cells[k].Class = strings.TrimSpace("right " + cells[k].Class)
			}
			to.Columns[k].Marked = to.Columns[k].Marked || cells[k].Mark != ""
			if key := cells[k].Mark + " " + cells[k].Words; cells[k].Mark != "" && !slices.Contains(to.Key, key) {
				to.Key = append(to.Key, key)
			}
			spread = spread || strings.Contains(cells[k].Text, "±")
		}
		to.Rows = append(to.Rows, cells)
	}
	if spread {
		to.Key = append(to.Key, spreadKey)
	}
	return to
}

func newCell(c Cell) cell {
	l := c.Class.appearance()
	shown := cell{printable(c.Text), l.mark, l.words, l.words != "" && l.mark == "", l.style}
	switch {
	case !shown.Verdict:
	case shown.Text == "" || shown.Text == l.words:
		shown.Text = l.words
	default:
		shown.Text = l.words + ": " + shown.Text
	}
	return shown
}

// newID derives a link target from a title. A title stays the same when other sections come
// and go; a number would not.
func newID(taken map[string]int, title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	id := cmp.Or(strings.Join(words, "-"), "section")
	for taken[id] > 0 {
		taken[id]++
		id = fmt.Sprintf("%s-%d", id, taken[id])
	}
	taken[id]++
	return id
}

// chartData makes a table with a row for each x of the chart and a column for each line.
func chartData(c plot.Chart) Table {
	t := Table{Caption: c.Title + " (" + c.Y.Label + ")", Columns: []Column{{c.X.Label, c.X.Names == nil}}}
	var xs []float64
	for _, l := range c.Lines {
		t.Columns = append(t.Columns, Column{l.Name, true})
		for _, p := range l.Points {
			xs = append(xs, p.X)
		}
	}
	slices.Sort(xs)
	for _, x := range slices.Compact(xs) {
		row := Row(plot.Number(x, xDigits))
		if i := int(x); i >= 0 && i < len(c.X.Names) {
			row = Row(c.X.Names[i])
		}
		for _, l := range c.Lines {
			var values []string
			for _, p := range l.Points {
				if p.X == x {
					values = append(values, pointText(p))
				}
			}
			row = append(row, Cell{Text: strings.Join(values, ", ")})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

const (
	xDigits    = 10
	dataDigits = 4
)

// pointText shows the larger distance to an end of the interval, which takes less room than
// both ends.
func pointText(p plot.Point) string {
	text := plot.Number(p.Y, dataDigits)
	switch reach := max(p.High-p.Y, p.Y-p.Low); {
	case !p.HasInterval():
		return text
	case p.Y == 0:
		return text + " ± " + plot.Number(reach, 2)
	default:
		return fmt.Sprintf("%s ±%s %%", text, plot.Number(100*reach/math.Abs(p.Y), 2))
	}
}

func printables(texts []string) []string {
	shown := make([]string, len(texts))
	for i, t := range texts {
		shown[i] = printable(t)
	}
	return shown
}

// printable replaces characters that could control the terminal or reverse the line. A line
// break or a tab becomes a blank, because each paragraph is a text of its own.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsGraphic(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
