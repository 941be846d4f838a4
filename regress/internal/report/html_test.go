package report

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

func writeHTML(t testing.TB, events []Event) []byte {
	t.Helper()
	return writeReport(t, NewHTML, filepath.Join(t.TempDir(), "r.html"), events)
}

// A document is a parsed page.
type document struct {
	t    testing.TB
	root *html.Node
}

func parsed(t testing.TB, page []byte) document {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return document{t, root}
}

// all returns the elements of a name, or all elements for "".
func (d document) all(name string) (found []*html.Node) {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// said is what a page says, a line for each piece of text.
func (d document) said() string {
	var b strings.Builder
	for n := range d.root.Descendants() {
		if n.Type != html.TextNode || n.Parent.Data == "script" || n.Parent.Data == "style" {
			continue
		}
		if text := strings.TrimSpace(n.Data); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", n.Parent.Data, text)
		}
	}
	return b.String()
}

func TestHTML(t *testing.T) {
	checkGolden(t, "page.txt", []byte(parsed(t, writeHTML(t, withCauses(checkRun(), 3))).said()))
}

// What can be read by machine of being fit for everybody: headings in order, names for
// all that one can act on or that is a picture, links that lead somewhere.
func TestHTMLIsAccessible(t *testing.T) {
	run := withCauses(longRun("check", 300, 3), 4)
	run = slices.Insert(run, len(run)-1, Event(NotRun{Name: "late.go", Index: 300}), Event(Note{Text: "noted"}))
	d := parsed(t, writeHTML(t, run))
	ids := map[string]bool{}
	level := 0
	for _, n := range d.all("") {
		if id := attribute(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("two elements have the id %s", id)
			}
			ids[id] = true
		}
		if m := regexp.MustCompile(`^h([1-6])$`).FindStringSubmatch(n.Data); m != nil {
			is, _ := strconv.Atoi(m[1])
			if is > level+1 {
				t.Errorf("heading %q is of level %d, after one of level %d", textOf(n), is, level)
			}
			level = is
		}
	}
	if n := len(d.all("h1")); n != 1 {
		t.Errorf("%d headings of level 1", n)
	}
	for _, n := range d.all("") {
		for _, key := range []string{"aria-labelledby", "aria-describedby", "for"} {
			if at := attribute(n, key); at != "" && !ids[at] {
				t.Errorf("%s of <%s> names %q, which is not there", key, n.Data, at)
			}
		}
		if at, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok && !ids[at] {
			t.Errorf("a link leads to %q, which is not there", at)
		}
		named := attribute(n, "aria-label") != "" || attribute(n, "aria-labelledby") != ""
		switch n.Data {
		case "html":
			if attribute(n, "lang") == "" {
				t.Error("the page has no language")
			}
		case "svg":
			if !named && attribute(n, "aria-hidden") != "true" {
				t.Errorf("a picture has no name: %v", n.Attr)
			}
		case "section", "nav", "ul":
			if n.Data != "ul" && !named {
				t.Errorf("<%s> has no name", n.Data)
			}
		case "input":
			if !slices.ContainsFunc(d.all("label"), func(l *html.Node) bool { return attribute(l, "for") == attribute(n, "id") }) {
				t.Error("an input has no label")
			}
		case "button", "summary", "a", "th":
			if strings.TrimSpace(textOf(n)) == "" {
				t.Errorf("<%s> has no words", n.Data)
			}
		}
		if has(n, "tabindex") && !named {
			t.Errorf("<%s> can be reached and has no name", n.Data)
		}
	}
}

// Names and contents never become anything but text.
func TestHTMLOfHostileRun(t *testing.T) {
	const evil = `</pre></title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>"'><a href="javascript:alert(3)">` + "`{{.}}${1}\u202e\x00\xff\x1b[31m"
	c := cause.Cause{ID: evil, Signature: evil, Name: evil, Kind: evil, Family: evil, Cases: 1, Lines: -1, Sole: 7, Example: evil, Smallest: evil, Folded: []string{evil}}
	ending := exit(0)
	run := withCauses(checkRun(), 3)
	plain := parsed(t, writeHTML(t, slices.Insert(run, len(run)-1, Event(costOfTen()))))
	page := writeHTML(t, []Event{
		Started{Command: evil, Run: evil, Corpus: evil, Tool: evil, Against: evil, Cases: 4, At: epoch},
		Note{Text: evil}, Note{Text: evil, Warning: true},
		Case{Name: evil, Verdict: regress.Changed, Ending: ending, Differences: []Difference{
			{Part: evil, Old: evil, Now: evil, Diff: "+" + evil + "\n", Hidden: 7}, {Part: outcome.EndingPart, Old: evil, Now: evil}}, More: 2},
		Case{Name: "a" + evil, Verdict: regress.Flaky, Flaky: []string{evil}},
		Case{Name: "b" + evil, Verdict: regress.EnvironmentFailed, Why: evil},
		NotRun{Name: evil},
		Cost{
			Estimate: cost.Estimate{Pairs: 1, CPU: cost.Ratio{Value: 1.5, Low: 1.2, High: 1.8}, Memory: cost.Ratio{Value: 1},
				Cases: []cost.Case{{Name: evil, Old: outcome.Cost{CPU: 1e6}, New: outcome.Cost{CPU: 2e6}, CPU: 2}}, Worst: []cost.Case{{Name: evil}},
				Warnings: []cost.Warning{{Text: evil}}},
			Measured: 1, Why: evil, Indicative: true, Over: []string{evil},
		},
		Group{Cause: c, Excerpt: "-" + evil + "\n", Members: []string{evil, "elsewhere" + evil}},
		Finished{regress.Summary{Command: evil, Run: evil, Cases: 4, NotRun: 1, Groups: 1, ExitStatus: 77, Interrupted: true, BrokeOff: true, Verdicts: regress.Verdicts{regress.Changed: 1}}},
	})
	checkHarmless(t, strings.NewReplacer("\u202e", "").Replace(string(page)))
	d := parsed(t, page)
	checkTame(t, d, plain)
	if n := strings.Count(d.said(), "<script>alert(1)</script>"); n < 15 {
		t.Errorf("the page says it %d times:\n%s", n, d.said())
	}
}

// checkTame fails where a page has elements, attributes, links, scripts or styles that a
// harmless one has not.
func checkTame(t testing.TB, d, plain document) {
	t.Helper()
	elements, attributes := map[string]bool{"pre": true}, map[string]bool{"open": true}
	for _, n := range plain.all("") {
		elements[n.Data] = true
		for _, a := range n.Attr {
			attributes[a.Key] = true
		}
	}
	for _, n := range d.all("") {
		if !elements[n.Data] {
			t.Errorf("there is an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if !attributes[a.Key] {
				t.Errorf("<%s> has an attribute %s", n.Data, a.Key)
			}
			if (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s> leads to %s", n.Data, a.Val)
			}
		}
	}
	// Scripts and styles, those of the plots among them, are as they are without. There may be fewer plots.
	for _, name := range []string{"script", "style"} {
		of := func(d document) (texts []string) {
			for _, n := range d.all(name) {
				texts = append(texts, textOf(n))
			}
			return texts
		}
		for _, text := range of(d) {
			if !slices.Contains(of(plain), text) {
				t.Errorf("an element %s is %q", name, text)
			}
		}
	}
}

// Very much differs: the page stays below 20 MB, and says what is not on it.
func TestHTMLIsBounded(t *testing.T) {
	const cases = 2000
	long := strings.Repeat("n", 2500)
	block := strings.Repeat("+<a line of the difference that is put in & more>\n", 150)
	events := []Event{Started{Command: "check", Cases: cases, At: epoch}}
	for i := range cases {
		events = append(events, Case{Name: fmt.Sprintf("%04d%s", i, long), Index: i, Verdict: regress.Changed,
			Differences: []Difference{{Part: "stdout", Old: "empty", Now: "much", Diff: block}}})
	}
	s := regress.Summary{Command: "check", Run: "r", Cases: cases, ExitStatus: 1, Verdicts: regress.Verdicts{regress.Changed: cases}}
	page := string(writeHTML(t, withCauses(append(events, Finished{s}), 700)))
	if len(page) > 20_000_000 {
		t.Errorf("%s", readable.Count(len(page), "byte"))
	}
	if len(page) < 14_000_000 {
		t.Errorf("%s, so that much of the room is unused", readable.Count(len(page), "byte"))
	}
	rows, unfold := strings.Count(page, `<li id="case-`), strings.Count(page, `<pre class="diff">`)
	for _, want := range []string{
		readable.Count(cases-rows, "more case") + ": the same command with --format json lists all.",
		"more causes: muster groups lists all.",
		"The differences of ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if rows == cases || unfold == 0 || unfold >= rows {
		t.Errorf("%d rows, %d with differences", rows, unfold)
	}
}

// noise is a PNG that does not become small.
func noise(seed uint64) []byte {
	img := image.NewGray(image.Rect(0, 0, 300, 200))
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return b.Bytes()
}

// A page with more pictures than there is room for has the first ones, and the other differences.
func TestHTMLOfManyPictures(t *testing.T) {
	c := Case{Name: "many", Verdict: regress.Changed, Ending: exit(0), GoldenEnding: exit(0), Differences: []Difference{diffOf("text", "1\n", "2\n")}}
	for i := range uint64(7) {
		c.Differences = append(c.Differences, Difference{Part: fmt.Sprint(i, ".png"), Binary: true, Contents: contentsOf(noise(i), noise(i+1))})
	}
	path := filepath.Join(t.TempDir(), "r.html")
	text := writeReport(t, func(path string) (Reporter, error) {
		r, err := NewHTML(path)
		r.(*page).previews.pictures = 200 << 10
		return r, err
	}, path, []Event{c, Finished{summaryOf("check", []Case{c})}})
	page := string(text)
	shown, left := strings.Count(page, `<div class="pictures"`), strings.Count(page, "There is no room for more pictures: muster review --web shows them.")
	if shown == 0 || left == 0 || shown+left != 7 || !strings.Contains(page, "text</b>") || !strings.Contains(page, `aria-label="Pictures of 0.png"`) {
		t.Errorf("%d pictures, %d without room, of 7", shown, left)
	}
}

// The list of slow cases has each case once, as its final result has it: not a fork that was retracted, nor a
// case that did not run.
func TestHTMLCountsEachCaseOnce(t *testing.T) {
	r, err := NewHTML(filepath.Join(t.TempDir(), "r.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fork, plain := time.Millisecond, time.Second
	ended := &regress.Ending{}
	handle(t, r,
		CaseRan{Name: "a", Pass: 1, Wall: fork, Forked: true}, Retracted{Name: "a"}, CaseRan{Name: "a", Pass: 1, Wall: plain},
		Case{Name: "a", Verdict: regress.Identical, Ending: ended, Cost: outcome.Cost{Wall: plain}},
		CaseRan{Name: "b", Pass: 1, Reused: true}, Case{Name: "b", Verdict: regress.Identical, Ending: ended, Reused: true},
		Case{Name: "c", Verdict: regress.Missing},
	)
	if p := r.(*page); p.ran != 1 || len(p.slowest) != 1 || p.slowest[0].took != plain {
		t.Errorf("%d runs, the slowest are %v", p.ran, p.slowest)
	}
}
