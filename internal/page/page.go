// Package page turns a report, given as a [Document], into plain text for a terminal or one
// self-contained HTML page. Both have the same content. The page draws the charts; the text
// has their data as tables, unless other tables have the same figures.
//
// The page needs no script and no other file, and suits phones, dark screens, paper and screen
// readers. The package must not measure or judge: its caller decides which cell is the best
// and which claim holds.
package page

import "muster/internal/plot"

// A Document is a report. Its texts may contain anything: both views replace unprintable
// characters by the replacement character, and the page escapes the rest.
type Document struct {
	Title      string
	Lead       []string // paragraphs: the question and the main results
	Conditions []Pair   // of the measurements
	Sections   []Section
}

// A Pair is a condition and its value.
type Pair struct{ Name, Value string }

// A Section answers one question. Both views show its parts in the order of the fields, except
// that charts come before tables.
type Section struct {
	Title    string
	Text     []string // paragraphs
	Tables   []Table
	Charts   []plot.Chart
	Pictures []plot.Chart // charts of figures in Tables; only the page shows them, before Charts
	Warnings []string     // why a figure may be misleading
	Notes    []string
}

// A Table has a row for each thing that its first column names. Rows may be shorter than the
// header, not longer.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Cell
}

// A Column aligns its cells to the left, or to the right for numbers.
type Column struct {
	Title string
	Right bool
}

// A Cell is a text and its class.
type Cell struct {
	Text  string // shown after the words of the class; need not repeat them
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

// Class marks a cell as the best figure or as a verdict. Both views show the class in words or
// by a mark, never by colour alone.
type Class int

const (
	Plain         Class = iota
	Best                // the best of the figures that the table compares
	Holds               // a confirmed claim
	NoLongerHolds       // a refuted claim
	Undecided           // an undecided claim
	Unreliable          // a figure from a disturbed measurement
)

// String returns the words of the class, "" for Plain.
func (c Class) String() string { return c.appearance().words }

type appearance struct {
	words string
	mark  string // shown after the text and explained below the table; "" if the text has the words
	style string // CSS class
}

func (c Class) appearance() appearance {
	switch c {
	case Best:
		return appearance{"best", "*", "best"}
	case Holds:
		return appearance{words: "holds", style: "holds"}
	case NoLongerHolds:
		return appearance{words: "no longer holds", style: "refuted"}
	case Undecided:
		return appearance{words: "undecided", style: "undecided"}
	case Unreliable:
		return appearance{words: "unreliable", style: "undecided"}
	}
	return appearance{}
}
