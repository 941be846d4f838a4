package report

import (
	"html/template"
	"io"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/internal/style"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/palette"
)

// pageView is the input of the template.
type pageView struct {
	Policy          string
	Style           template.CSS
	Script          template.JS
	Title           string
	Interrupted     bool
	Verdicts        []verdictCount
	Facts           []fact
	Hints           []hint
	Warnings, Notes []string
	CausesCount     int    // causes and buckets
	CausesText      string // how many causes there are
	Causes          []pageCause
	CausesLeft      string
	Cost            []string // nil if no cost was reported
	CostPlot        template.HTML
	Engine          []string // nil if cases ran on this machine
	Slowest         []slowCase
	CaseCount       string
	Groups          []pageVerdict
	Left            []string
	NotRun          []string
	NotRunLeft      int
}

type fact struct{ Name, Value string }

type verdictCount struct{ N, What, Class string }

type slowCase struct{ Name, Took, Where string }

func (p *page) write(w io.Writer, s regress.Summary) error {
	anchors := p.sortRows()
	title, _ := ended(s)
	plot, err := costPlot(p.costs)
	if err != nil {
		return err
	}
	v := pageView{
		Policy: pagePolicy(), Style: template.CSS(style.CSS() + style.Pictures() + pageStyle), Script: template.JS(pageScript),
		Title: readable.Clip(readable.Line(s.Command), 100) + ": " + title, Interrupted: s.BrokeOff, Facts: p.facts(s), Hints: hintsFor(s),
		Cost: costLines(p.costs, false, true), CostPlot: template.HTML(plot), // safe, because package plot escapes its texts
		NotRun: name.PrintAll(p.notRun),
	}
	if s.Engine != nil {
		v.Engine = append([]string{engineCounts(s.Engine)}, engineLines(s.Engine)...)
	}
	if len(p.notRun) > 0 {
		v.NotRunLeft = max(0, s.Unjudged()-len(p.notRun))
	}
	all := 0
	for _, n := range p.counts {
		all += n
	}
	v.CaseCount = readable.Number(all)
	v.Groups, v.Left = p.verdicts(anchors)
	v.Causes = p.pageCauses(anchors)
	if causes := p.causes.causes; len(causes) > 0 {
		v.CausesCount, v.CausesText = len(causes), CountCauses(causes).String()
		if left := len(causes) - len(v.Causes); left > 0 {
			v.CausesLeft = readable.Count(left, "more cause") + ": " + allCauses(s) + " lists all."
		}
	}
	if p.ran >= slowestRunsMin {
		for _, t := range p.slowest {
			v.Slowest = append(v.Slowest, slowCase{name.Print(t.name), readable.Duration(t.took), t.where})
		}
	}
	for _, c := range countsOf(s) {
		if c.n > 0 {
			v.Verdicts = append(v.Verdicts, verdictCount{readable.Number(c.n), c.what, classOfColour(c.colour)})
		}
	}
	for _, n := range p.notes {
		text := readable.Clip(readable.Text(n.Text), 2000)
		if n.Warning {
			v.Warnings = append(v.Warnings, text)
		} else {
			v.Notes = append(v.Notes, text)
		}
	}
	return pageLayout.ExecuteTemplate(w, "page", v)
}

func (p *page) facts(s regress.Summary) (facts []fact) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, readable.Clip(readable.Line(value), pageFactBytesMax)})
		}
	}
	add("Run", s.Run)
	if !p.started.At.IsZero() {
		add("Began", p.started.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	add("Command", p.started.Tool)
	add("Compared with", p.started.Against)
	add("Corpus", p.started.Corpus)
	var allowed []string
	for _, v := range p.started.Allowed {
		allowed = append(allowed, v.String())
	}
	add("Allowed", strings.Join(allowed, ", "))
	add("Wall time", readable.Duration(s.Wall))
	if s.CPU > 0 {
		add("CPU of the tool", readable.Duration(s.CPU))
	}
	if s.Merged == 0 {
		add("CPU of muster itself", readable.Duration(s.OwnCPU))
		if s.Engine == nil && s.CPU > 0 {
			add("Cores busy", strconv.FormatFloat(finite(s.CoresBusy), 'f', 2, 64)+", jobs "+strconv.Itoa(p.started.Jobs))
		}
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

// pageCause is a cause on the page.
type pageCause struct {
	cause.Cause
	N                                           int // from 1, for the anchor
	CasesText, CasesNumber, LinesText, SoleText string
	ExampleAt, SmallestAt                       string // anchors of the rows, if the cases have some
	Excerpt                                     string
	Open                                        bool
	Members                                     []pageLink
	MoreMembers                                 int
	JoinedNames, FoldedNames                    []string
	MoreFolded                                  int
}

// A pageLink links to a case's row, if it has one.
type pageLink struct{ Name, At string }

// openCauses is the number of causes that are unfolded when the page opens.
const openCauses = 10

// pageCauses returns the most frequent causes, while there is room.
func (p *page) pageCauses(anchors map[string]string) (list []pageCause) {
	room := pageCauseBytesMax
	clip := func(text string, bytesMax int) string {
		text = readable.Clip(readable.Line(text), bytesMax)
		room -= len(template.HTMLEscapeString(text))
		return text
	}
	for i, g := range p.groups {
		v := pageCause{
			Cause: g.Cause, N: i + 1, CasesText: readable.Count(g.Cases, "case"), CasesNumber: readable.Number(g.Cases), LinesText: readable.Number(g.Lines),
			SoleText: readable.Number(g.Sole), ExampleAt: anchors[g.Example], SmallestAt: anchors[g.Smallest], Excerpt: readable.Text(g.Excerpt),
			Open: i < openCauses, MoreMembers: max(0, g.Cases-len(g.Members)),
		}
		room -= len(template.HTMLEscapeString(v.Excerpt))
		v.ID, v.Name, v.Family = clip(g.ID, 40), clip(g.Name, 300), clip(g.Family, 200)
		v.Example, v.Smallest = clip(name.Print(g.Example), 4<<10), clip(name.Print(g.Smallest), 4<<10)
		for _, m := range g.Members {
			v.Members = append(v.Members, pageLink{clip(name.Print(m), 4<<10), anchors[m]})
		}
		for _, j := range g.Joined {
			v.JoinedNames = append(v.JoinedNames, clip(j, 300))
		}
		for _, f := range g.Folded[:min(len(g.Folded), pageMembersMax)] {
			v.FoldedNames = append(v.FoldedNames, clip(f, 300))
		}
		v.MoreFolded = max(0, g.FoldedCount-len(v.FoldedNames))
		if room < 0 {
			break
		}
		list = append(list, v)
	}
	return list
}

// pageDifferences are the differences of one case.
type pageDifferences struct {
	Ending string
	Parts  []pagePart
	Flaky  string
	Left   string
	Show   string
	Why    string
}

type pagePart struct {
	Name, Words, Diff string
	Pictures          *pagePictures // nil for other contents
}

// differences returns what unfolds below a case, or nil if its line says all.
func (r *previewRoom) differences(c Case) *pageDifferences {
	d := &pageDifferences{Ending: endings(c), Show: showCommand(c.Name)}
	hidden := 0
	for _, one := range c.Differences {
		if one.Part == outcome.EndingPart {
			continue
		}
		d.Parts = append(d.Parts, r.parts(one)...)
		hidden += max(one.Hidden, 0)
	}
	if len(c.Flaky) > 0 {
		d.Flaky = name.List(c.Flaky, flakyNamedMax)
	}
	if c.Verdict == regress.EnvironmentFailed {
		d.Why = readable.Text(c.Why)
	}
	d.Left = leftOut(hidden, c.More)
	if d.Parts == nil && d.Ending == "" && d.Flaky == "" && d.Why == "" {
		return nil
	}
	return d
}
