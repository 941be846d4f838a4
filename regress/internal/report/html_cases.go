package report

import (
	"cmp"
	"html/template"
	"iter"
	"slices"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/name"
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
		if size := c.rows[i].diff.size(); size > 0 && size <= room && !c.with[i] {
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
	if row.Gist, err = c.p.to.text(r.gist); err != nil {
		return row, err
	}
	row.Gist = clipped(row.Gist, 400)
	ids := c.p.causes.ids(r.name)
	for i, id := range ids {
		ids[i] = clipped(readable.Line(id), 40)
	}
	row.IDs = clipped(strings.Join(ids, " "), 4000)
	row.Causes = ids[:min(len(ids), rowCausesMax)]
	if more := len(ids) - len(row.Causes); more > 0 {
		row.MoreCauses = readable.Number(more)
	}
	if !c.with[i] {
		row.Left = r.unfolds
		return row, nil
	}
	text, err := c.p.to.text(r.diff)
	row.Differences = template.HTML(text) // as the template rendered it
	c.diffs += len(text)
	return row, err
}
