// Package page is a report as a document, and two views of it: plain text for a terminal
// and one self-contained HTML page. Both say the same; the page has the charts drawn, the
// text has their data as tables.
//
// The page needs no script and nothing from elsewhere, and reads on a phone, on dark
// screens, on paper and aloud. The package must not measure or judge: whoever fills a
// document says which cell is the best and which claim holds.
package page

import "muster/internal/plot"

// A Document is a report. Texts may hold anything: both views show what is not printable
// as the replacement character, and the page escapes the rest.
type Document struct {
	Title      string
	Lead       []string // paragraphs: what was asked and what came out
	Conditions []Pair   // under which it was measured
	Sections   []Section
}

// A Pair is one condition: what it is, and how it was.
type Pair struct{ Name, Value string }

// A Section answers one question. Its parts are shown in the order of the fields, except
// that charts come before tables.
type Section struct {
	Title    string
	Text     []string // paragraphs
	Tables   []Table
	Charts   []plot.Chart
	Warnings []string // why a figure may not mean what it seems to
	Notes    []string
}

// A Table has one row for each thing that its first column names. Rows may be shorter
// than the columns are many, and not longer.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Cell
}

// A Column is right-aligned for numbers.
type Column struct {
	Title string
	Right bool
}

// A Cell is a figure or a word, and how it did.
type Cell struct {
	Text  string // after a verdict's own words; it need not repeat them
	Class Class
}

// Row makes cells without a class.
func Row(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

// Class says how a cell did. It is never shown by colour alone.
type Class int

const (
	Plain         Class = iota
	Best                // of those that it is compared with
	Holds               // a claim that is confirmed
	NoLongerHolds       // a claim that is refuted
	CannotBeTold        // a claim that was not decided
)

// String is the class in words; nothing for Plain.
func (c Class) String() string { return c.look().words }

type look struct {
	words string
	mark  string // after the text, explained below the table; none where the text says it
	style string // in the page
}

func (c Class) look() look {
	switch c {
	case Best:
		return look{"best", "*", "best"}
	case Holds:
		return look{words: "holds", style: "holds"}
	case NoLongerHolds:
		return look{words: "no longer holds", style: "refuted"}
	case CannotBeTold:
		return look{words: "cannot be told", style: "open"}
	}
	return look{}
}
