package report

import "muster/regress/internal/readable"

// remarks are the sentences that every report shows beside the counts: what a reader must
// know before they trust them. Of a list they name at most most elements.
func remarks(s Summary, most int) []string {
	list := s.Masked.remarks(s.Command)
	if text := s.toolChanged(most); text != "" {
		list = append(list, "tool changed since the golden: "+text)
	}
	return list
}

// What remarks name of a list. The rest is counted.
const (
	namedShort = 3
	namedMax   = 1000
)

// remarks says what was not compared, and why.
func (m Masked) remarks(command string) (list []string) {
	verb := "not compared"
	if command == RecordCommand {
		verb = "will not be compared"
	}
	if varying := m.Cases - m.CutOff; varying > 0 {
		vary := "vary"
		if m.Parts-m.CutOffParts == 1 {
			vary = "varies"
		}
		list = append(list, verb+": "+readable.Count(m.Parts-m.CutOffParts, "part")+" in "+readable.Count(varying, "case")+", which "+vary+" from run to run")
	}
	if m.CutOff > 0 {
		list = append(list, verb+": the output of "+readable.Count(m.CutOff, "case")+" that a limit ended")
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
