package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"muster/internal/plot"
	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report/pending"
)

// HTMLMark is at the beginning of every page of NewHTML.
const HTMLMark = `<meta name="generator" content="muster`

// Bounds of a page, so that it opens at once and can be sent by mail. The page says what it
// leaves out. In all it is below 20 MB.
const (
	pageDiffBytesMax  = 10 << 20 // differences of cases, in bytes
	pageCauseBytesMax = 4 << 20  // causes with their excerpts, in bytes
	pageOtherBytesMax = 8 << 20  // everything but the differences, in bytes
	pageCausesMax     = 500
	pageCasesMax      = 10_000
	pageMembersMax    = 50 // cases that are named with a cause
	pageNamesMax      = 500
	pageNotesMax      = 100
	caseDiffBytesMax  = 512 << 10 // names of one case, in bytes
	excerptBytesMax   = 32 << 10  // texts of one cause, in bytes
	pageFactBytesMax  = 32 << 10  // a command to paste, in bytes
)

//go:embed html_page.html
var pageMarkup string

//go:embed html_page.css
var pageStyle string

//go:embed html_page.js
var pageScript string

var pageLayout = template.Must(template.New("page").Parse(pageMarkup))

// NewHTML returns a Reporter that writes one self-contained page to path once the run is
// Finished. Until then, and if the run breaks off, an earlier file stays. The page loads
// nothing from elsewhere, and runs no script but its own. Identical cases take no space. The
// differences of the others go to an unnamed file in the same folder as they come.
func NewHTML(path string) (Reporter, error) {
	to, err := pending.New("--html", path)
	if err != nil {
		return nil, err
	}
	return newPage(to), nil
}

func newPage(to *pending.File) *page {
	return &page{to: to, previews: previewRoom{contents: previewContentBytesMax, pictures: previewPictureBytesMax}}
}

// page collects the content of the page.
type page struct {
	to       *pending.File
	started  Started
	notes    []Note
	moreNote int
	previews previewRoom
	rows     []pageRow
	causes   memberships
	excerpts []string // the causes that there is room for
	members  [][]string
	room     int // bytes for excerpts
	notRun   []string
	times    durationCounts
	load     load
	costs    *Cost
}

// A pageRow is a case that is not identical.
type pageRow struct {
	name    string
	index   int
	verdict regress.Verdict
	gist    pending.Stretch // a few words about the case
	unfolds bool            // the case has more to show than fits its line
	diff    pending.Stretch // the whole case as the page shows it; empty if it is too large
}

func (p *page) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		notes, more := p.notes, p.moreNote
		*p = *newPage(p.to)
		p.started, p.load, p.notes, p.moreNote = ev, load{from: ev.At}, notes, more
	case CaseRan:
		p.load.add(ev)
	case Note:
		if ev.Slow != "" {
			break // its duration is among the figures of the case
		}
		if len(p.notes) == pageNotesMax {
			p.moreNote++
			return nil
		}
		p.notes = append(p.notes, ev)
	case Case:
		return p.addCase(ev)
	case NotRun:
		if len(p.notRun) < pageNamesMax {
			p.notRun = append(p.notRun, ev.Name)
		}
	case Group:
		p.group(ev)
	case Cost:
		p.costs = &ev
	case Finished:
		return p.to.Replace(func(w io.Writer) error { return p.write(w, ev.Summary) })
	}
	return nil
}

func (p *page) Close() error { return p.to.Close() }

// addCase counts a case. It keeps one that is not identical, and renders its differences.
func (p *page) addCase(c Case) (err error) {
	if c.Ending != nil && !c.Reused { // the case ran
		p.times.add(c.Name, c.Cost.Wall, c.Engine)
	}
	if c.Verdict == regress.Identical {
		return nil
	}
	row := pageRow{name: c.Name, index: c.Index, verdict: c.Verdict}
	if row.gist, err = p.to.Keep(beside(gist(c), "; ", EngineWords(c.Engine))); err != nil {
		return err
	}
	if parts := p.previews.differences(c); parts != nil {
		var b strings.Builder
		if err := pageLayout.ExecuteTemplate(&b, "differences", parts); err != nil {
			return err
		}
		row.unfolds = true
		if b.Len() <= caseDiffBytesMax {
			row.diff, err = p.to.Keep(b.String())
		}
	}
	p.rows = append(p.rows, row)
	return err
}

// group keeps a cause, and its excerpt while there is room.
func (p *page) group(g Group) {
	p.causes.add(g)
	if len(p.excerpts) == pageCausesMax {
		return
	}
	excerpt := g.Excerpt
	if len(excerpt) > excerptBytesMax || p.room+len(excerpt) > pageCauseBytesMax/4 {
		excerpt = ""
	}
	p.room += len(excerpt)
	p.excerpts = append(p.excerpts, excerpt)
	p.members = append(p.members, g.Members[:min(len(g.Members), pageMembersMax)])
}

// pagePolicy allows the page its own style, its own script, by digest, and pictures within it, and nothing else.
func pagePolicy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// pageLook is the part of the template's input that does not come from a run.
type pageLook struct {
	Policy string
	Style  template.CSS
	Script template.JS
}

// A barPart is the share of one verdict in the bar of all cases, in thousandths.
type barPart struct {
	X, Width     float64
	Class, Words string
}

const barThousand = 1000

// verdictBar returns the cases by verdict, as parts of one bar. A record has no bar.
func verdictBar(s regress.Summary) (parts []barPart) {
	if s.Command == regress.RecordCommand || s.Cases <= 0 {
		return nil
	}
	x := 0.0
	add := func(n int, class, words string) {
		if n <= 0 {
			return
		}
		// a part stays visible, however small it is
		width := max(barThousand*float64(n)/float64(s.Cases), 4)
		parts = append(parts, barPart{x, width, class, readable.Count(n, "case") + " " + words})
		x += width
	}
	for v, n := range s.Verdicts {
		add(n, classOf(regress.Verdict(v)), regress.Verdict(v).String())
	}
	add(s.Unjudged(), "none", "not run")
	if x <= 0 {
		return nil
	}
	for i := range parts {
		parts[i].X *= barThousand / x
		parts[i].Width *= barThousand / x
	}
	return parts
}

// durationCounts counts runs by their durations.
type durationCounts struct {
	counts  [durationSteps]int
	runs    int
	slowest []timedRun // the longest runs first
	engine  bool
}

type timedRun struct {
	name  string
	took  time.Duration
	where string
}

const (
	durationSteps  = 24 // steps from below 1 ms, three to a factor of ten
	slowestMax     = 10
	durationsShown = 20 // smallest number of runs with a chart
)

func (d *durationCounts) add(caseName string, took time.Duration, r *outcome.EngineRun) {
	d.runs++
	d.engine = d.engine || r != nil
	step := 0
	for step < durationSteps-1 && took >= durationStep(step) {
		step++
	}
	d.counts[step]++
	if len(d.slowest) == slowestMax && took <= d.slowest[slowestMax-1].took {
		return
	}
	at, _ := slices.BinarySearchFunc(d.slowest, took, func(t timedRun, took time.Duration) int { return cmp.Compare(took, t.took) })
	d.slowest = slices.Insert(d.slowest, at, timedRun{caseName, took, EngineWords(r)})
	d.slowest = d.slowest[:min(len(d.slowest), slowestMax)]
}

// durationStep returns the end of a step from -3 on: 0 is 1ms, then 2ms, 5ms, 10ms …
func durationStep(step int) time.Duration {
	d := 100 * time.Microsecond * [...]time.Duration{1, 2, 5}[(step+3)%3]
	for range (step + 3) / 3 {
		d *= 10
	}
	return d
}

// A timesView is how long the cases took: a picture of all, and the slowest ones.
type timesView struct {
	Picture template.HTML
	Caption string
	Took    string // what was timed
	Engine  bool
	Slowest []slowCase
}

type slowCase struct{ Name, Took, Where string }

// view returns nil if there are too few runs.
func (d *durationCounts) view() (*timesView, error) {
	if d.runs < durationsShown {
		return nil, nil
	}
	v := &timesView{Engine: d.engine, Took: "Wall time", Caption: "Wall time of the first run"}
	if d.engine {
		v.Took, v.Caption = "Took", "The command alone in the first run. Reused results count as they took when they ran."
	}
	svg, err := d.picture()
	if err != nil {
		return nil, err
	}
	v.Picture = template.HTML(svg) // safe, because package plot escapes its texts
	for _, t := range d.slowest {
		v.Slowest = append(v.Slowest, slowCase{name.Print(t.name), readable.Duration(t.took), t.where})
	}
	return v, nil
}

// picture returns a bar for each step, in the middle of it, as one svg element. An empty step at both ends keeps
// the bars off the axis.
func (d *durationCounts) picture() (string, error) {
	first, last := durationSteps, 0
	for i, n := range d.counts {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	bars := plot.Line{Name: "cases that took so long", Form: plot.Bars}
	for i := first - 1; i <= last+1; i++ {
		middle := math.Sqrt(durationStep(i).Seconds() * durationStep(i-1).Seconds())
		n := 0
		if i >= first && i <= last {
			n = d.counts[i]
		}
		bars.Points = append(bars.Points, plot.Point{X: middle, Y: float64(n)})
	}
	var b strings.Builder
	err := plot.Chart{Title: "How many cases took how long", X: plot.Axis{Label: "wall time, s", Log: true}, Y: plot.Axis{Label: "cases"}, Lines: []plot.Line{bars}}.SVG(&b)
	return b.String(), err
}
