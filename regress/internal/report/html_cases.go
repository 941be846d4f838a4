package report

import (
	"cmp"
	"html/template"
	"iter"
	"slices"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// pageCases are the rows of the page, with the differences that there is room for.
type pageCases struct {
	p       *page
	page    *countingWriter
	rows    []pageRow         // rows by verdict, strongest first
	with    map[int]bool      // rows whose differences are on the page
	anchors map[string]string // anchors of these rows, by case name
	diffs   int               // bytes written so far
	without int               // rows so far whose differences are left out
	shown   int               // rows so far
	err     error
}

func (p *page) newCases(w *countingWriter) *pageCases {
	c := &pageCases{p: p, page: w, rows: p.rows, with: map[int]bool{}, anchors: map[string]string{}}
	slices.SortStableFunc(c.rows, func(a, b pageRow) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
	})
	c.rows = c.rows[:min(len(c.rows), pageCasesMax)]
	at := map[string]int{}
	for i, r := range c.rows {
		at[r.name] = i
		c.anchors[r.name] = "case-" + strconv.Itoa(i+1)
	}
	room := int64(pageDiffBytesMax)
	take := func(i int) {
		if size := c.rows[i].diff.Size(); size > 0 && size <= room && !c.with[i] {
			c.with[i] = true
			room -= size
		}
	}
	// cases that causes link to come first
	for _, cause := range p.causes.causes {
		for _, n := range []string{cause.Example, cause.Smallest} {
			if i, here := at[n]; here {
				take(i)
			}
		}
	}
	for i := range c.rows {
		take(i)
	}
	return c
}

// Number returns the number of cases that are not identical.
func (c *pageCases) Number() string { return readable.Number(len(c.p.rows)) }

// Left describes the cases that the page leaves out.
func (c *pageCases) Left() []string {
	var lines []string
	if left := len(c.p.rows) - c.shown; left > 0 {
		lines = append(lines, readable.Count(left, "more case")+": the same command with --format json lists all.")
	}
	if c.without > 0 {
		lines = append(lines, "The differences of "+readable.Count(c.without, "case")+" are left out to keep the page small: muster show NAME has each whole.")
	}
	return lines
}

// pageVerdict is a verdict with its cases.
type pageVerdict struct {
	Word, Class string
	Count       string
	Open        bool
	Cases       iter.Seq[pageCase]
}

// openRowsMax is the largest number of rows of a verdict that is unfolded when the page opens.
const openRowsMax = 100

// Groups yields the verdicts with their cases.
func (c *pageCases) Groups() (groups []pageVerdict) {
	for from := 0; from < len(c.rows); {
		to := from
		for to < len(c.rows) && c.rows[to].verdict == c.rows[from].verdict {
			to++
		}
		v := c.rows[from].verdict
		groups = append(groups, pageVerdict{
			Word: v.String(), Class: classOf(v), Count: readable.Count(to-from, "case"), Open: to-from <= openRowsMax,
			Cases: c.between(from, to),
		})
		from = to
	}
	return groups
}

// pageCase is a row.
type pageCase struct {
	At, Name, Gist string
	Causes         []string
	MoreCauses     string
	IDs            string // IDs of all its causes, for the filter
	Differences    template.HTML
	Left           bool // it has differences, which are not on the page
	Show           string
}

const rowCausesMax = 12

func (c *pageCases) between(from, to int) iter.Seq[pageCase] {
	return func(yield func(pageCase) bool) {
		for i := from; i < to; i++ {
			if c.page.written-c.diffs > pageOtherBytesMax {
				return
			}
			row, err := c.row(i)
			if c.err = err; err != nil || !yield(row) {
				return
			}
			c.shown++
			if row.Left {
				c.without++
			}
		}
	}
}

func (c *pageCases) row(i int) (row pageCase, err error) {
	r := c.rows[i]
	row = pageCase{At: c.anchors[r.name], Name: name.Print(r.name), Show: showCommand(r.name)}
	if row.Gist, err = c.p.to.Text(r.gist); err != nil {
		return row, err
	}
	row.Gist = readable.Clip(row.Gist, 400)
	ids := c.p.causes.ids(r.name)
	for i, id := range ids {
		ids[i] = readable.Clip(readable.Line(id), 40)
	}
	row.IDs = readable.Clip(strings.Join(ids, " "), 4000)
	row.Causes = ids[:min(len(ids), rowCausesMax)]
	if more := len(ids) - len(row.Causes); more > 0 {
		row.MoreCauses = readable.Number(more)
	}
	if !c.with[i] {
		row.Left = r.unfolds
		return row, nil
	}
	text, err := c.p.to.Text(r.diff)
	row.Differences = template.HTML(text) // as the template rendered it
	c.diffs += len(text)
	return row, err
}

// pageCause is a cause on the page.
type pageCause struct {
	cause.Cause
	N                                 int // from 1, for the anchor
	CasesText, CasesNumber, LinesText string
	SoleText                          string
	ExampleAt, SmallestAt             string // anchors of the rows, if the cases have some
	Excerpt                           []diffLine
	Open                              bool
	Members                           []pageLink
	MoreMembers                       string
	JoinedNames, FoldedNames          []string
	MoreFolded                        string
	Share                             float64 // percent of the most frequent cause
}

// A pageLink links to a case's row, if it has one.
type pageLink struct{ Name, At string }

// openCauses is the number of causes that are unfolded when the page opens.
const openCauses = 10

// pageCauses are the causes of the page: the most frequent ones, while there is room.
type pageCauses struct {
	p     *page
	page  *countingWriter
	cases *pageCases
	shown int
	all   string // command that lists all causes
}

func (p *page) newCauses(w *countingWriter, cases *pageCases, s regress.Summary) *pageCauses {
	if len(p.causes.causes) == 0 {
		return nil
	}
	return &pageCauses{p: p, page: w, cases: cases, all: allCauses(s)}
}

// All yields the causes of the table.
func (c *pageCauses) All() iter.Seq[pageCause] { return c.yield(false) }

// Whole yields these causes with excerpts and cases.
func (c *pageCauses) Whole() iter.Seq[pageCause] { return c.yield(true) }

func (c *pageCauses) yield(whole bool) iter.Seq[pageCause] {
	return func(yield func(pageCause) bool) {
		from := c.page.written
		for i := range c.p.excerpts {
			if c.page.written-from > pageCauseBytesMax/2 || !yield(c.p.cause(i, whole, c.cases)) {
				return
			}
			c.shown = i + 1
		}
	}
}

// Number returns the number of causes and buckets.
func (c *pageCauses) Number() int { return len(c.p.causes.causes) }

// Text says how many causes there are.
func (c *pageCauses) Text() string { return CountCauses(c.p.causes.causes).String() }

// Left describes the causes that the page leaves out.
func (c *pageCauses) Left() string {
	if left := c.Number() - c.shown; left > 0 {
		return readable.Count(left, "more cause") + ": " + c.all + " lists all."
	}
	return ""
}

func (p *page) cause(i int, whole bool, cases *pageCases) pageCause {
	c := p.causes.causes[i]
	v := pageCause{
		Cause: c, N: i + 1, CasesText: readable.Count(c.Cases, "case"), CasesNumber: readable.Number(c.Cases), LinesText: readable.Number(c.Lines), SoleText: readable.Number(c.Sole),
		ExampleAt: cases.anchors[c.Example], SmallestAt: cases.anchors[c.Smallest],
		Open: i < openCauses,
	}
	v.ID, v.Name, v.Family = readable.Clip(readable.Line(c.ID), 40), readable.Clip(readable.Line(c.Name), 300), readable.Clip(readable.Line(c.Family), 200)
	v.Example, v.Smallest = name.Print(c.Example), name.Print(c.Smallest)
	if most := p.causes.causes[0].Cases; most > 0 {
		v.Share = 100 * float64(c.Cases) / float64(most)
	}
	if !whole {
		return v
	}
	v.Excerpt = diffLines(p.excerpts[i])
	for _, m := range p.members[i] {
		v.Members = append(v.Members, pageLink{name.Print(m), cases.anchors[m]})
	}
	if more := c.Cases - len(v.Members); more > 0 {
		v.MoreMembers = readable.Number(more)
	}
	for _, j := range c.Joined {
		v.JoinedNames = append(v.JoinedNames, readable.Clip(readable.Line(j), 300))
	}
	for _, f := range c.Folded[:min(len(c.Folded), pageMembersMax)] {
		v.FoldedNames = append(v.FoldedNames, readable.Clip(readable.Line(f), 300))
	}
	if more := c.FoldedCount - len(v.FoldedNames); more > 0 {
		v.MoreFolded = readable.Number(more)
	}
	return v
}

// A diffLine is a line of a diff, and the class that colours it.
type diffLine struct{ Class, Text string }

func diffLines(text string) []diffLine {
	lines := []diffLine{}
	for line := range strings.Lines(readable.Text(text)) {
		line = strings.TrimSuffix(line, "\n")
		lines = append(lines, diffLine{diffClass(line), line})
	}
	return lines
}

func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "put-in"
	case strings.HasPrefix(line, "-"):
		return "taken-out"
	case strings.HasPrefix(line, "@@"):
		return "place"
	case strings.HasPrefix(line, "<"), strings.HasPrefix(line, ">"), strings.HasPrefix(line, "…"), strings.HasPrefix(line, "\\"):
		return "remark"
	}
	return ""
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
	r.ofCase = casePictureBytesMax
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
