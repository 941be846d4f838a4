package page_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/internal/page"
	"muster/internal/plot"
)

var update = flag.Bool("update", false, "rewrite the golden files; check the difference before you commit it")

func render(t *testing.T, write func(io.Writer, page.Document) error, d page.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Packages plot and style test their drawings and their style sheet. Without drawings the page is the same on
// every processor.
func withoutDrawings(html string) string {
	from, to := strings.Index(html, "<style>\n"), strings.Index(html, "</style>\n</head>")
	html = html[:from] + "(the styles)\n" + html[to+len("</style>\n"):]
	for {
		from, to := strings.Index(html, "<svg "), strings.Index(html, "</svg>\n")
		if from < 0 || to < 0 {
			return html
		}
		html = html[:from] + "(a chart)\n" + html[to+len("</svg>\n"):]
	}
}

func TestGolden(t *testing.T) {
	for name, got := range map[string]string{
		"small.txt":  render(t, page.Text, small()),
		"small.html": withoutDrawings(render(t, page.HTML, small())),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
		}
	}
}

// An element of a page and its text.
type element struct {
	name, text string
	attributes []xml.Attr
}

// read parses the page as a browser would. It leaves styles out of the text.
func parse(t *testing.T, html string) (elements []element, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(html, "<!DOCTYPE html>")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, html)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements = append(elements, element{token.Name.Local, "", token.Copy().Attr})
			text += " "
		case xml.CharData:
			if n := len(elements) - 1; n >= 0 && elements[n].name != "style" {
				elements[n].text += string(token)
				text += string(token)
			}
		}
	}
}

func TestBothViewsSayTheSame(t *testing.T) {
	for name, d := range map[string]page.Document{"small": small(), "large": large()} {
		_, html := parse(t, withoutDrawings(render(t, page.HTML, d)))
		words := strings.Fields(html)
		for _, word := range strings.Fields(render(t, page.Text, d)) {
			if strings.Trim(word, "-=") != "" && !slices.Contains(words, word) {
				t.Errorf("%s: the page lacks the text's word %q", name, word)
			}
		}
	}
}

func TestPageStandsAlone(t *testing.T) {
	elements, _ := parse(t, render(t, page.HTML, large()))
	ids := map[string]bool{}
	for _, e := range elements {
		for _, a := range e.attributes {
			if a.Name.Local == "id" {
				if ids[a.Value] {
					t.Errorf("the id %s occurs twice", a.Value)
				}
				ids[a.Value] = true
			}
		}
	}
	links := 0
	for _, e := range elements {
		if slices.Contains([]string{"script", "link", "img", "iframe", "object", "image", "use"}, e.name) {
			t.Errorf("the page has a %s", e.name)
		}
		for _, a := range e.attributes {
			switch a.Name.Local {
			case "src", "onclick", "onload":
				t.Errorf("%s has %s=%q", e.name, a.Name.Local, a.Value)
			case "href":
				links++
				if !ids[strings.TrimPrefix(a.Value, "#")] {
					t.Errorf("the link %q leads nowhere in the page", a.Value)
				}
			case "aria-labelledby":
				if !ids[a.Value] {
					t.Errorf("%s takes its name from the missing %q", e.name, a.Value)
				}
			}
		}
	}
	if links != 4 {
		t.Errorf("%d links in the contents of 4 sections", links)
	}
}

// Screen readers navigate by headings and table headers.
func TestPageIsReadAloud(t *testing.T) {
	elements, _ := parse(t, render(t, page.HTML, large()))
	level := 0
	for _, e := range elements {
		switch e.name {
		case "h1", "h2", "h3":
			next := int(e.name[1] - '0')
			if next > level+1 || next == 1 && level > 0 {
				t.Errorf("heading %q of level %d comes after level %d", e.text, next, level)
			}
			level = next
		case "th":
			if !slices.ContainsFunc(e.attributes, func(a xml.Attr) bool { return a.Name.Local == "scope" }) {
				t.Errorf("the header %q lacks a scope", e.text)
			}
		case "svg":
			if !slices.ContainsFunc(e.attributes, func(a xml.Attr) bool { return a.Name.Local == "aria-label" && a.Value != "" }) {
				t.Error("a chart has no name")
			}
		}
	}
}

func TestFewSectionsNeedNoContents(t *testing.T) {
	if html := render(t, page.HTML, small()); strings.Contains(html, "<nav") {
		t.Error("two sections have a table of contents")
	}
}

const evil = "</style></td><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}\x1b]0;title\a\r\xff\u202e\"'"

func hostile() page.Document {
	return page.Document{
		Title: evil, Lead: []string{evil}, Conditions: []page.Pair{{Name: evil, Value: evil}},
		Sections: []page.Section{{
			Title: evil, Text: []string{evil}, Warnings: []string{evil}, Notes: []string{evil},
			Tables: []page.Table{{Caption: evil, Columns: []page.Column{{Title: evil}}, Rows: [][]page.Cell{{{Text: evil, Class: page.Best}}, {{Text: evil, Class: page.Holds}}}}},
			Charts: []plot.Chart{{Title: evil, X: plot.Axis{Label: evil}, Y: plot.Axis{Label: evil},
				Lines: []plot.Line{{Name: evil, Points: []plot.Point{{X: 1, Y: 1}}}}}},
		}},
	}
}

func TestHostileText(t *testing.T) {
	html := render(t, page.HTML, hostile())
	for view, got := range map[string]string{"text": render(t, page.Text, hostile()), "page": html} {
		if i := strings.IndexAny(got, "\x1b\a\r\u202e"); i >= 0 || !strings.Contains(got, "\ufffd") {
			t.Errorf("the %s has a control character at byte %d", view, i)
		}
	}
	elements, text := parse(t, html)
	for _, e := range elements {
		if e.name == "script" || e.name == "img" {
			t.Errorf("a text became an element %s", e.name)
		}
	}
	if !strings.Contains(text, "<script>alert(1)</script><img src=x onerror=alert(1)>{{.}}") {
		t.Error("the page lacks the escaped text")
	}
}

// Half a page would look complete.
func TestUndrawableChart(t *testing.T) {
	d := page.Document{Sections: []page.Section{{Charts: []plot.Chart{{Title: "that", Lines: []plot.Line{{Name: "a", Points: []plot.Point{{Y: math.NaN()}}}}}}}}}
	var b bytes.Buffer
	if err := page.HTML(&b, d); err == nil || b.Len() > 0 || !strings.Contains(err.Error(), `"that" cannot be drawn`) {
		t.Errorf("error %v and %d bytes written", err, b.Len())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteErrors(t *testing.T) {
	if page.Text(broken{}, small()) == nil || page.HTML(broken{}, small()) == nil {
		t.Error("a write error was ignored")
	}
}

// A link to a section keeps its target when other sections are added before it.
func TestSectionsAreLinkedByTheirTitles(t *testing.T) {
	titles := []string{"Channel: time, GOMAXPROCS 1…256", "Contents", "Каналы", "", "contents", "!"}
	var d page.Document
	for _, title := range titles {
		d.Sections = append(d.Sections, page.Section{Title: title})
	}
	html := render(t, page.HTML, d)
	for _, id := range []string{"channel-time-gomaxprocs-1-256", "contents-2", "каналы", "section", "contents-3", "section-2"} {
		if strings.Count(html, `<h2 id="`+id+`">`) != 1 {
			t.Errorf("no section has the id %s", id)
		}
	}
	parse(t, html)
}

// A verdict must be in words, not only in a colour.
func TestVerdictWithAWordOfItsOwn(t *testing.T) {
	d := page.Document{Sections: []page.Section{{Tables: []page.Table{{Columns: []page.Column{{}},
		Rows: [][]page.Cell{{{Text: "not measured", Class: page.Undecided}}, {{Text: "holds", Class: page.Holds}}}}}}}}
	for _, got := range []string{render(t, page.Text, d), render(t, page.HTML, d)} {
		if !strings.Contains(got, "undecided: not measured") || strings.Contains(got, "holds: holds") {
			t.Errorf("a verdict is not in words:\n%s", got)
		}
	}
}

// Each table that shows a spread explains it, once.
func TestSpreadIsExplained(t *testing.T) {
	table := func(texts ...string) page.Table {
		return page.Table{Columns: []page.Column{{}, {}}, Rows: [][]page.Cell{page.Row(texts...)}}
	}
	d := page.Document{Sections: []page.Section{{Tables: []page.Table{table("412 ±3%", "2 × ±1%"), table("412", "2 ×"), table("", "1 ±9%")}}}}
	for _, got := range []string{render(t, page.Text, d), render(t, page.HTML, d)} {
		if n := strings.Count(got, "± the distance from the value to the farther end of its interval"); n != 2 {
			t.Errorf("%d explanations for 2 tables with spreads:\n%s", n, got)
		}
	}
}

// The page draws a picture of figures that a table has, and the text does not repeat them. Bars
// have their names in the data, too.
func TestPictures(t *testing.T) {
	c := plot.Chart{Title: "Bars of ns per task", X: plot.Axis{Label: "pool", Names: []string{"ants", "channel"}}, Y: plot.Axis{Label: "ns"},
		Lines: []plot.Line{{Name: "ns per task", Form: plot.Bars, Points: []plot.Point{{X: 0, Y: 38.5}, {X: 1, Y: 95.25}}}}}
	d := page.Document{Sections: []page.Section{{Title: "here", Pictures: []plot.Chart{c}}}}
	if text := render(t, page.Text, d); strings.Contains(text, c.Title) || strings.Contains(text, "95.25") {
		t.Errorf("the text repeats a picture:\n%s", text)
	}
	html := render(t, page.HTML, d)
	for _, want := range []string{`<svg class="chart" role="img" aria-label="Bars of ns per task"`, ">ants</th>", ">95.25</td>"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	d.Sections[0].Charts, d.Sections[0].Pictures = d.Sections[0].Pictures, nil
	if text := render(t, page.Text, d); !strings.Contains(text, "  ants            38.5") {
		t.Errorf("the text lacks the data of a chart:\n%s", text)
	}
}

// An empty document is valid.
func TestEmpty(t *testing.T) {
	d := page.Document{Sections: []page.Section{{Tables: []page.Table{{}}}}}
	render(t, page.Text, d)
	render(t, page.HTML, d)
}

func TestClasses(t *testing.T) {
	for class, want := range map[page.Class]string{
		page.Plain: "", page.Best: "best",
		page.Holds: "holds", page.NoLongerHolds: "no longer holds", page.Undecided: "undecided", page.Unreliable: "unreliable",
	} {
		if got := class.String(); got != want {
			t.Errorf("class %d is %q, want %q", int(class), got, want)
		}
	}
}
