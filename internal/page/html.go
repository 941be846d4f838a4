package page

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"muster/internal/style"
)

//go:embed page.html
var markup string

//go:embed page.css
var own string

var layout = template.Must(template.New("page").Parse(markup))

// contentsFrom is the least number of sections for which a page has a table of contents.
const contentsFrom = 4

// HTML writes the document as one page. It fails if a chart cannot be drawn.
func HTML(w io.Writer, d Document) error {
	v := newView(d)
	p := struct {
		view
		Style    template.CSS
		Contents bool
	}{v, template.CSS(style.CSS() + own), len(v.Sections) >= contentsFrom}
	// Write all or nothing: half a page would look complete.
	var b bytes.Buffer
	if err := layout.Execute(&b, p); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// SVG draws the chart. The template does not escape the result; package plot does.
func (c chart) SVG() (template.HTML, error) {
	var b strings.Builder
	if err := c.source.SVG(&b); err != nil {
		return "", fmt.Errorf("the chart cannot be drawn: %w", err)
	}
	return template.HTML(b.String()), nil
}

const (
	lineMax = 80 // columns of running text
	cellMax = 44 // columns of a cell before it takes a second line
)

// Text writes the document for a terminal: paragraphs of 80 columns and aligned tables,
// without colours.
func Text(w io.Writer, d Document) error {
	v := newView(d)
	t := terminal{bufio.NewWriter(w)}
	t.heading(v.Title, "=")
	t.paragraphs("", v.Lead)
	if len(v.Conditions) > 0 {
		t.heading("Conditions", "-")
		t.conditions(v.Conditions)
	}
	for _, s := range v.Sections {
		t.section(s)
	}
	return t.Flush()
}

// terminal keeps the first write error until Flush.
type terminal struct{ *bufio.Writer }

func (t terminal) line(parts ...string) {
	t.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

func (t terminal) heading(title, rule string) {
	t.line(title)
	t.line(strings.Repeat(rule, columnsOf(title)))
	t.line()
}

func (t terminal) paragraphs(label string, texts []string) {
	for _, text := range texts {
		for _, l := range wrap(label+text, lineMax) {
			t.line(l)
		}
		t.line()
	}
}

func (t terminal) conditions(pairs []Pair) {
	width := 0
	for _, p := range pairs {
		width = max(width, columnsOf(p.Name))
	}
	for _, p := range pairs {
		for i, l := range wrap(p.Value, max(lineMax-width-4, cellMax)) {
			name := p.Name
			if i > 0 {
				name = ""
			}
			t.line("  ", pad(name, width, false), "  ", l)
		}
	}
	t.line()
}

func (t terminal) section(s section) {
	t.heading(s.Title, "-")
	t.paragraphs("", s.Text)
	for _, c := range s.Charts {
		if !c.drawn {
			t.table(c.Data)
		}
	}
	for _, tab := range s.Tables {
		t.table(tab)
	}
	t.paragraphs("Warning: ", s.Warnings)
	t.paragraphs("Note: ", s.Notes)
}

func (t terminal) table(tab table) {
	if tab.Caption != "" {
		t.paragraphs("", []string{tab.Caption})
	}
	widths := make([]int, len(tab.Columns))
	head, rule := make([]cell, len(widths)), make([]cell, len(widths))
	for i, c := range tab.Columns {
		head[i].Text = c.Title
	}
	for _, row := range slices.Concat([][]cell{head}, tab.Rows) {
		for i, c := range row {
			for _, l := range wrap(c.Text, cellMax) {
				widths[i] = max(widths[i], columnsOf(l))
			}
		}
	}
	for i, width := range widths {
		rule[i].Text = strings.Repeat("-", width)
	}
	t.row(tab.Columns, widths, head)
	t.row(tab.Columns, widths, rule)
	for _, row := range tab.Rows {
		t.row(tab.Columns, widths, row)
	}
	t.line()
	if len(tab.Key) > 0 {
		t.line("  ", strings.Join(tab.Key, "   "))
		t.line()
	}
}

// row writes a row on as many lines as its tallest cell needs.
func (t terminal) row(columns []column, widths []int, cells []cell) {
	lines, deepest := make([][]string, len(cells)), 0
	for i, c := range cells {
		lines[i] = wrap(c.Text, max(cellMax, widths[i]))
		deepest = max(deepest, len(lines[i]))
	}
	for n := range deepest {
		var parts []string
		for i, c := range cells {
			text, mark := "", ""
			if n < len(lines[i]) {
				text = lines[i][n]
			}
			if columns[i].Marked {
				mark = "  "
			}
			if n == 0 && c.Mark != "" {
				mark = " " + c.Mark
			}
			parts = append(parts, "  ", pad(text, widths[i], columns[i].Right), mark)
		}
		t.line(parts...)
	}
}

func pad(s string, width int, right bool) string {
	blanks := strings.Repeat(" ", max(width-columnsOf(s), 0))
	if right {
		return blanks + s
	}
	return s + blanks
}

// wrap breaks a text between words. A word that is too long gets a line of its own.
func wrap(s string, width int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case current == "":
			current = word
		case columnsOf(current)+1+columnsOf(word) > width:
			lines = append(lines, current)
			current = word
		default:
			current += " " + word
		}
	}
	return append(lines, current)
}

// columnsOf returns the width of a text. It ignores the environment, so that equal documents
// give equal bytes.
func columnsOf(s string) int {
	return (&runewidth.Condition{}).StringWidth(s)
}
