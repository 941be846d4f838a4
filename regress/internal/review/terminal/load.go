package terminal

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"muster/internal/wording"
	"muster/regress/internal/review"
)

// pageKey identifies the content of a page.
type pageKey struct {
	item, c int
	mode    review.Mode
	others  bool
}

// A page is a difference that was loaded and laid out.
type page struct {
	pageKey
	lines []review.Line
	parts []int // index of the first line of each part
}

// pagesMax is the number of pages that are kept, so that moving back and forth does not load
// them again.
const pagesMax = 16

// pages are the pages that were loaded last, the latest at the end.
type pages struct{ kept []page }

func (p *pages) put(n page) {
	p.kept = append(slices.DeleteFunc(p.kept, func(o page) bool { return o.pageKey == n.pageKey }), n)
	if len(p.kept) > pagesMax {
		p.kept = slices.Delete(p.kept, 0, len(p.kept)-pagesMax)
	}
}

func (p *pages) find(k pageKey) (page, bool) {
	i := slices.IndexFunc(p.kept, func(o page) bool { return o.pageKey == k })
	if i < 0 {
		return page{}, false
	}
	return p.kept[i], true
}

// wantedPage returns the key of the page that the screen should show.
func (m *model) wantedPage() (k pageKey, some bool) {
	item, _, some := m.desk.Cursor()
	c, _, someCase := m.desk.Member()
	return pageKey{item, c, m.mode, m.others}, some && someCase
}

// difference returns the lines that the screen should show, or none while they are loaded.
func (m *model) difference() []review.Line {
	k, some := m.wantedPage()
	if !some {
		return nil
	}
	p, _ := m.pages.find(k)
	return p.lines
}

// load loads the wanted page unless it is there.
func (m *model) load() tea.Cmd {
	k, some := m.wantedPage()
	if _, known := m.pages.find(k); !some || known {
		return nil
	}
	caseName := m.desk.Cases()[k.c].Name
	return func() tea.Msg {
		d, err := m.desk.Difference(m.ctx, caseName)
		if err != nil {
			return page{pageKey: k, lines: []review.Line{remark(wording.Of(err))}}
		}
		return layOut(d, k)
	}
}

func layOut(d review.Difference, k pageKey) page {
	p := page{pageKey: k}
	if d.Why != "" {
		p.lines = append(p.lines, remark(d.Why))
	}
	if d.Where != "" {
		p.lines = append(p.lines, remark("on the engine: "+d.Where))
	}
	if d.Ending != "" {
		p.lines = append(p.lines, heading("ending: "+d.Ending))
	}
	for _, one := range d.Parts {
		p.parts = append(p.parts, len(p.lines))
		p.lines = append(p.lines, heading(one.Name+": "+one.Words))
		p.lines = append(p.lines, review.Render(one, review.Layout{Mode: k.mode, Focus: k.item, Others: k.others, Columns: 2000})...)
	}
	return p
}

func remark(text string) review.Line {
	return review.Line{Kind: review.Remark, Left: []review.Span{{Text: text}}}
}

// heading returns the heading of a part. A tool may have chosen the part's name.
func heading(text string) review.Line {
	return review.Line{Kind: review.Heading, Left: []review.Span{{Text: text}}}
}
