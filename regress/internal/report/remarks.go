package report

import (
	"strings"

	"muster/regress/internal/readable"
)

// remark is what every report shows beside the counts: what a reader must know before
// they trust them.
type remark struct {
	subject string // for a report that has a column for it
	text    string
	line    string // the whole, where there is no column
}

// labelled is a remark whose line begins with its subject.
func labelled(subject, text string) remark { return remark{subject, text, subject + ": " + text} }

// sentence is a remark whose text says it all.
func sentence(subject, text string) remark { return remark{subject, text, text} }

// title is the subject as a heading.
func (r remark) title() string { return strings.ToUpper(r.subject[:1]) + r.subject[1:] }

// remarks returns all remarks on a run. Of a list they name at most most elements.
func remarks(s Summary, most int) []remark {
	list := s.Masked.remarks(s.Command)
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
	list = append(list, s.Sources.remarks(most)...)
	if text := s.toolChanged(most); text != "" {
		list = append(list, labelled("tool changed since the golden", text))
	}
	for _, text := range s.Settings {
		list = append(list, sentence("settings", text))
	}
	return list
}

// What remarks name of a list. The rest is counted.
const (
	namedShort = 3
	namedMax   = 1000
)

// remarks says what was not compared, and why.
func (m Masked) remarks(command string) (list []remark) {
	verb := "not compared"
	if command == RecordCommand {
		verb = "will not be compared"
	}
	if varying := m.Cases - m.CutOff; varying > 0 {
		vary := "vary"
		if m.Parts-m.CutOffParts == 1 {
			vary = "varies"
		}
		list = append(list, labelled(verb, readable.Count(m.Parts-m.CutOffParts, "part")+" in "+readable.Count(varying, "case")+", which "+vary+" from run to run"))
	}
	if m.CutOff > 0 {
		list = append(list, labelled(verb, "the output of "+readable.Count(m.CutOff, "case")+" that a limit ended"))
	}
	return list
}

// inHeadline says the same in a few words.
func (m Masked) inHeadline() string {
	if m.Cases == 0 {
		return ""
	}
	return ", " + readable.Count(m.Parts, "part") + " in " + readable.Count(m.Cases, "case") + " not compared"
}
