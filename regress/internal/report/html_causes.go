package report

import (
	"iter"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
)

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
	FoldedNames                       []string
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

// Number returns the number of causes.
func (c *pageCauses) Number() int { return len(c.p.causes.causes) }

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
	v.ID, v.Name, v.Family = clipped(readable.Line(c.ID), 40), clipped(readable.Line(c.Name), 300), clipped(readable.Line(c.Family), 200)
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
	for _, f := range c.Folded[:min(len(c.Folded), pageMembersMax)] {
		v.FoldedNames = append(v.FoldedNames, clipped(readable.Line(f), 300))
	}
	return v
}
