package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var markup string

//go:embed page.css
var style string

var layout = template.Must(template.New("page").Parse(markup))

// contentsFrom is the least number of sections for which a page has a table of contents.
const contentsFrom = 4

// HTML writes the document as one page. It fails if a chart cannot be drawn.
func HTML(w io.Writer, d Document) error {
	v, err := newView(d)
	if err != nil {
		return err
	}
	p := struct {
		view
		Style    template.CSS
		Contents bool
	}{v, template.CSS(style), len(v.Sections) >= contentsFrom}
	// Write all or nothing: half a page would look complete.
	var b bytes.Buffer
	if err := layout.Execute(&b, p); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
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
