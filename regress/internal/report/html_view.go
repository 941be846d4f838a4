package report

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// pageView is the input of the template. The template reads each sequence once, in the order of
// the page: a sequence stops when the page is full, and later parts say what it left out.
type pageView struct {
	pageLook
	Title       string
	Interrupted bool
	Verdicts    []verdictCount
	Facts       []fact
	Hints       []hint
	Bar         []barPart
	Warnings    []string
	Notes       []string
	MoreNotes   string
	Causes      *pageCauses    // nil without causes
	Cost        *pageCost      // nil if no cost was reported
	Engine      *pageEngine    // nil if cases ran on this machine
	Times       *durationChart // nil if there is too little to show
	Cases       *pageCases
	NotRun      []string
	NotRunTold  string
}

type fact struct{ Name, Value string }

type verdictCount struct {
	N           string
	What, Class string
}

func (p *page) write(w io.Writer, s regress.Summary) error {
	counted := &countingWriter{w: w}
	cases := p.newCases(counted)
	title, _ := ended(s)
	costs, err := p.costs.view()
	if err != nil {
		return err
	}
	engine, err := p.engine(s)
	if err != nil {
		return err
	}
	v := pageView{
		pageLook: newPageLook(), Title: clipped(readable.Line(s.Command), 100) + ": " + title, Interrupted: s.BrokeOff,
		Facts: p.facts(s), Hints: hintsFor(s, ""), Bar: verdictBar(s),
		Causes: p.newCauses(counted, cases, s), Cost: costs, Engine: engine, Times: p.times.chart(),
		Cases: cases, NotRun: printable(p.notRun), NotRunTold: p.notRunTold(s),
	}
	for _, c := range countsOf(s) {
		if c.n > 0 {
			v.Verdicts = append(v.Verdicts, verdictCount{readable.Number(c.n), c.what, classOfColour(c.colour)})
		}
	}
	for _, n := range p.notes {
		text := clipped(readable.Text(n.Text), 2000)
		if n.Warning {
			v.Warnings = append(v.Warnings, text)
		} else {
			v.Notes = append(v.Notes, text)
		}
	}
	if p.moreNote > 0 {
		v.MoreNotes = readable.Count(p.moreNote, "more note")
	}
	if err := pageLayout.ExecuteTemplate(counted, "page", v); err != nil {
		return err
	}
	return cases.err
}

// countingWriter counts the bytes of the page.
type countingWriter struct {
	w       io.Writer
	written int
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.written += n
	return n, err
}

func (p *page) facts(s regress.Summary) []fact {
	facts := []fact{}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, clipped(readable.Line(value), pageFactBytesMax)})
		}
	}
	add("Run", s.Run)
	if !p.started.At.IsZero() {
		add("Began", p.started.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	add("Command", p.started.Tool)
	add("Compared with", p.started.Against)
	add("Corpus", p.started.Corpus)
	if len(p.started.Allowed) > 0 {
		words := []string{}
		for _, v := range p.started.Allowed {
			words = append(words, v.String())
		}
		add("Allowed", strings.Join(words, ", "))
	}
	add("Wall time", readable.Duration(s.Wall))
	switch {
	case s.Engine != nil:
		add("On the engine", engineCounts(s.Engine))
		if s.IsMeasured() {
			add("CPU of the tool there", readable.Duration(s.CPU))
		}
		add("CPU of muster itself", readable.Duration(s.OwnCPU))
	case s.CPU > 0:
		add("CPU of the tool", readable.Duration(s.CPU))
		if s.Merged > 0 {
			break
		}
		add("CPU of muster itself", readable.Duration(s.OwnCPU))
		add("Cores busy", strconv.FormatFloat(finite(s.CoresBusy), 'f', 2, 64)+", jobs "+strconv.Itoa(p.started.Jobs))
	}
	for _, r := range remarks(s, namedMax) {
		add(r.title(), r.text)
	}
	status := strconv.Itoa(s.ExitStatus)
	if meaning := meaningOf(s); meaning != "" {
		status += ": " + meaning
	}
	add("Exit status", status)
	return facts
}

// classOf returns the CSS class of a verdict's chip.
func classOf(v regress.Verdict) string { return classOfColour(colourOf(v)) }

func classOfColour(c palette.Style) string {
	switch c {
	case palette.Green:
		return "good"
	case palette.Red:
		return "bad"
	case palette.Yellow:
		return "open"
	case palette.Purple:
		return "odd"
	}
	return "new"
}

// clipped returns the beginning of a text, at most about bytesMax bytes.
func clipped(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	for bytesMax > 0 && !utf8.RuneStart(text[bytesMax]) {
		bytesMax--
	}
	return text[:bytesMax] + "…"
}

func printable(raw []string) []string {
	names := make([]string, len(raw))
	for i, r := range raw {
		names[i] = name.Print(r)
	}
	return names
}

func (p *page) notRunTold(s regress.Summary) string {
	if left := s.Unjudged() - len(p.notRun); left > 0 && len(p.notRun) > 0 {
		return "and " + readable.Number(left) + " more"
	}
	return ""
}
