package terminal

import (
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
}

// wantedPage returns the key of the page that the screen should show.
func (m *model) wantedPage() (k pageKey, some bool) {
	item, _, some := m.desk.Cursor()
	c, _, someCase := m.desk.Member()
	return pageKey{item, c, m.mode, m.others}, some && someCase
}

// difference returns the lines that the screen should show, or none while they are loaded.
func (m *model) difference() []review.Line {
	if k, some := m.wantedPage(); !some || m.page.pageKey != k {
		return nil
	}
	return m.page.lines
}

// show shows a page, unless the reviewer went on while it was loaded.
func (m *model) show(p page) {
	if k, some := m.wantedPage(); some && p.pageKey == k {
		m.page = p
	}
}

// load loads the wanted page unless it is there.
func (m *model) load() tea.Cmd {
	k, some := m.wantedPage()
	if !some || m.page.pageKey == k {
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
