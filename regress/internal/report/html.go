package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

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
	pageCauseBytesMax = 4 << 20  // causes, in bytes
	pageCaseBytesMax  = 4 << 20  // cases without their differences, in bytes
	pageCausesMax     = 500
	pageCasesMax      = 10_000
	pageMembersMax    = 50 // cases that are named with a cause
	pageNamesMax      = 500
	caseDiffBytesMax  = 2 << 20  // differences of one case, in bytes
	excerptBytesMax   = 32 << 10 // texts of one cause, in bytes
	pageFactBytesMax  = 32 << 10 // a command to paste, in bytes
	pageGistBytesMax  = 400
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
// nothing from elsewhere, and runs no script but its own. Identical cases take no space.
func NewHTML(path string) (Reporter, error) {
	to, err := pending.New("--html", path)
	if err != nil {
		return nil, err
	}
	return newPage(to), nil
}

func newPage(to *pending.File) *page {
	return &page{to: to, diffRoom: pageDiffBytesMax, previews: previewRoom{contents: previewContentBytesMax, pictures: previewPictureBytesMax}}
}

// page collects the content of the page.
type page struct {
	to       *pending.File
	started  Started
	notes    []Note
	previews previewRoom
	diffRoom int // bytes for differences
	rows     []pageRow
	counts   regress.Verdicts // the cases that are not identical; rows has at most pageCasesMax of a verdict
	causes   memberships
	groups   []Group // the causes that there may be room for
	notRun   []string
	ran      int // cases
	slowest  []slowRun
	costs    *Cost
}

// A pageRow is a case that is not identical.
type pageRow struct {
	name    string
	index   int
	verdict regress.Verdict
	gist    string // a few words about the case
	unfolds bool   // the case has more to show than fits its line
	diff    string // the differences as the page shows them; "" if there is no room
}

type slowRun struct {
	name  string
	took  time.Duration
	where string
}

// Bounds of the list of slow cases.
const (
	slowestMax     = 10
	slowestRunsMin = 20
)

func (p *page) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		notes := p.notes
		*p = *newPage(p.to)
		p.started, p.notes = ev, notes
	case Note:
		if ev.Slow == "" { // else its duration is among the figures of the case
			p.notes = append(p.notes, ev)
		}
	case Case:
		return p.addCase(ev)
	case NotRun:
		if len(p.notRun) < pageNamesMax {
			p.notRun = append(p.notRun, ev.Name)
		}
	case Group:
		p.causes.add(ev)
		if len(p.groups) < pageCausesMax {
			ev.Members = ev.Members[:min(len(ev.Members), pageMembersMax)]
			ev.Excerpt = readable.Clip(ev.Excerpt, excerptBytesMax)
			p.groups = append(p.groups, ev)
		}
	case Cost:
		p.costs = &ev
	case Finished:
		return p.to.Replace(func(w io.Writer) error { return p.write(w, ev.Summary) })
	}
	return nil
}

func (p *page) Close() error { return nil }

// addCase counts a case. It keeps one that is not identical, and renders its differences while there is room.
func (p *page) addCase(c Case) error {
	if c.Ending != nil && !c.Reused { // the case ran
		p.addTime(c.Name, c.Cost.Wall, c.Engine)
	}
	if c.Verdict == regress.Identical {
		return nil
	}
	if p.counts[c.Verdict]++; p.counts[c.Verdict] > pageCasesMax {
		return nil
	}
	row := pageRow{name: c.Name, index: c.Index, verdict: c.Verdict, gist: readable.Clip(beside(gist(c), "; ", EngineWords(c.Engine)), pageGistBytesMax)}
	if parts := p.previews.differences(c); parts != nil {
		var b strings.Builder
		if err := pageLayout.ExecuteTemplate(&b, "differences", parts); err != nil {
			return err
		}
		row.unfolds = true
		if b.Len() <= min(caseDiffBytesMax, p.diffRoom) {
			row.diff = b.String()
			p.diffRoom -= b.Len()
		}
	}
	p.rows = append(p.rows, row)
	return nil
}

// addTime keeps the longest runs, the longest first.
func (p *page) addTime(caseName string, took time.Duration, r *outcome.EngineRun) {
	p.ran++
	if len(p.slowest) == slowestMax && took <= p.slowest[slowestMax-1].took {
		return
	}
	at, _ := slices.BinarySearchFunc(p.slowest, took, func(s slowRun, took time.Duration) int { return cmp.Compare(took, s.took) })
	p.slowest = slices.Insert(p.slowest, at, slowRun{caseName, took, EngineWords(r)})
	p.slowest = p.slowest[:min(len(p.slowest), slowestMax)]
}

// pagePolicy allows the page its own style, its own script, by digest, and pictures within it, and nothing else.
func pagePolicy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// sortRows sorts the cases by verdict, strongest first. It returns the anchors of those on the page, by name.
func (p *page) sortRows() map[string]string {
	slices.SortStableFunc(p.rows, func(a, b pageRow) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
	})
	anchors := map[string]string{}
	room := pageCaseBytesMax
	for i, r := range p.rows {
		room -= len(template.HTMLEscapeString(name.Print(r.name) + r.gist))
		if r.diff == "" {
			room -= len(template.HTMLEscapeString(showCommand(r.name)))
		}
		if i == pageCasesMax || room < 0 {
			p.rows = p.rows[:i]
			break
		}
		anchors[r.name] = "case-" + strconv.Itoa(i+1)
	}
	return anchors
}

// pageVerdict is a verdict with its cases.
type pageVerdict struct {
	Word, Class, Count string
	Open               bool
	Cases              []pageCase
}

// pageCase is a row.
type pageCase struct {
	At, Name, Gist string
	Causes         []string
	MoreCauses     int
	IDs            string // IDs of all its causes, for the filter
	Differences    template.HTML
	Left           bool // it has differences, which are not on the page
	Show           string
}

const (
	openRowsMax  = 100 // a verdict with more cases is folded when the page opens
	rowCausesMax = 12
)

// verdicts returns the verdicts with their cases, and what the page leaves out.
func (p *page) verdicts(anchors map[string]string) (groups []pageVerdict, left []string) {
	without, all := 0, 0
	for _, r := range p.rows {
		word := r.verdict.String()
		if len(groups) == 0 || groups[len(groups)-1].Word != word {
			groups = append(groups, pageVerdict{Word: word, Class: classOf(r.verdict)})
		}
		ids := p.causes.ids(r.name)
		for i, id := range ids {
			ids[i] = readable.Clip(readable.Line(id), 40)
		}
		row := pageCase{
			At: anchors[r.name], Name: name.Print(r.name), Gist: r.gist, Show: showCommand(r.name), IDs: readable.Clip(strings.Join(ids, " "), 4000),
			Causes: ids[:min(len(ids), rowCausesMax)], MoreCauses: max(0, len(ids)-rowCausesMax), Left: r.unfolds && r.diff == "",
			Differences: template.HTML(r.diff), // as the template rendered it
		}
		if row.Left {
			without++
		}
		g := &groups[len(groups)-1]
		g.Cases = append(g.Cases, row)
	}
	for i := range groups {
		n := len(groups[i].Cases)
		groups[i].Count, groups[i].Open = readable.Count(n, "case"), n <= openRowsMax
	}
	for _, n := range p.counts {
		all += n
	}
	if more := all - len(p.rows); more > 0 {
		left = append(left, readable.Count(more, "more case")+": the same command with --format json lists all.")
	}
	if without > 0 {
		left = append(left, "The differences of "+readable.Count(without, "case")+" are left out to keep the page small: muster show NAME has each whole.")
	}
	return groups, left
}
