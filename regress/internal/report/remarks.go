package report

import (
	"strings"

	"muster/internal/readable"
	"muster/regress"
)

// remark is a line that every report shows beside the counts. Readers need it to judge the
// counts.
type remark struct {
	subject string // for a report with a column for it
	text    string
	line    string // the whole remark, for a report without such a column
}

// labelled returns a remark whose line begins with its subject.
func labelled(subject, text string) remark { return remark{subject, text, subject + ": " + text} }

// sentence returns a remark whose line is its text alone.
func sentence(subject, text string) remark { return remark{subject, text, text} }

// title returns the subject as a heading.
func (r remark) title() string { return strings.ToUpper(r.subject[:1]) + r.subject[1:] }

// remarks returns all remarks on a run. A remark names at most most elements of a list.
func remarks(s regress.Summary, most int) []remark {
	list := append(failureRemarks(s), maskedRemarks(s.Masked, s.Command)...)
	if s.Selection != "" {
		list = append(list, labelled("selection of the golden", s.Selection))
	}
	if s.NotSampled > 0 {
		verb := " are"
		if s.NotSampled == 1 {
			verb = " is"
		}
		list = append(list, sentence("sample", readable.Count(s.NotSampled, "case")+verb+" not in the recorded sample"))
	}
	list = append(list, sourceRemarks(s.Sources, most)...)
	if text := toolChanged(s, most); text != "" {
		if n := s.Tool.Same; n > 0 {
			text += "; " + readable.Count(n, "other file") + " of the tool " + isOrAre(n) + " the same"
		}
		list = append(list, labelled("tool changed since the golden", text))
	}
	for _, text := range s.Settings {
		list = append(list, sentence("settings", text))
	}
	return list
}

// Bounds of the elements of a list that a remark names. The others are counted.
const (
	namedShort = 3
	namedMax   = 1000
)

// remarks returns the remarks on parts that were not compared, with the reason.
func maskedRemarks(m regress.Masked, command string) (list []remark) {
	verb := "not compared"
	if command == regress.RecordCommand {
		verb = "will not be compared"
	}
	if varying := m.Cases - m.CutOff - m.IgnoredAlone; varying > 0 {
		texts := HolesText(m.Holes)
		if others := m.Parts - m.CutOffParts - m.IgnoredParts - m.Holes.Parts - m.Holes.Whole; others > 0 {
			texts = and(texts, "the kind or name of "+readable.Count(others, "part"))
		}
		list = append(list, labelled(verb, texts+", in "+readable.Count(varying, "case")+" that "+varies(varying)+" from run to run"))
	}
	if m.Ignored > 0 {
		list = append(list, labelled(verb, partsIn(m.IgnoredParts, m.Ignored)+", which --ignore names"))
	}
	if m.CutOff > 0 {
		list = append(list, labelled(verb, "the output of "+readable.Count(m.CutOff, "case")+" that a limit ended"))
	}
	return list
}

// HolesText describes what was not compared of texts that vary, or returns "".
func HolesText(h regress.Holes) (text string) {
	if h.Lines > 0 {
		text = readable.Number(h.Lines) + " of " + readable.Count(h.AllLines, "line")
		if h.Free > 0 {
			text += " (" + readable.Number(h.Free) + " with free text)"
		}
	}
	if h.Whole > 0 {
		text = and(text, readable.Count(h.Whole, "whole part"))
	}
	return text
}

// and joins two parts of a sentence. The first may be empty.
func and(a, b string) string {
	if a == "" {
		return b
	}
	return a + " and " + b
}

func varies(cases int) string {
	if cases == 1 {
		return "varies"
	}
	return "vary"
}

// maskedHeadline returns a short form for the headline.
func maskedHeadline(m regress.Masked) string {
	if m.Cases == 0 {
		return ""
	}
	text := ""
	if m.Holes.Lines > 0 {
		text = readable.Count(m.Holes.Lines, "line")
	}
	if parts := m.Parts - m.Holes.Parts; parts > 0 {
		text = and(text, readable.Count(parts, "part"))
	}
	return ", " + text + " in " + readable.Count(m.Cases, "case") + " not compared"
}

func partsIn(parts, cases int) string {
	return readable.Count(parts, "part") + " in " + readable.Count(cases, "case")
}
