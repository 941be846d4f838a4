package report

import (
	"fmt"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
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
	if s.Reused > 0 {
		verb := oneOrMany(s.Reused, " has", " have")
		list = append(list, labelled("reused", readable.Number(s.Reused)+" of "+readable.Cases(s.Cases)+verb+" the outcome of an earlier check"))
	}
	if s.NotReused != "" {
		list = append(list, labelled("not reused", name.Print(s.NotReused)+" gave another outcome than in the earlier check, so every case ran"))
	}
	if s.Forked > 0 {
		verb := oneOrMany(s.Forked, " ran as a fork", " ran as forks")
		list = append(list, labelled("forked", readable.Number(s.Forked)+" of "+readable.Cases(s.Cases)+verb+" of the started command"))
	}
	if s.NotSampled > 0 {
		verb := oneOrMany(s.NotSampled, " is", " are")
		list = append(list, sentence("sample", readable.Count(s.NotSampled, "case")+verb+" not in the recorded sample"))
	}
	list = append(list, sourceRemarks(s.Sources, most)...)
	if text := toolChanged(s, most); text != "" {
		if n := s.Tool.Same; n > 0 {
			text += "; " + readable.Count(n, "other file") + " of the tool " + oneOrMany(n, "is", "are") + " the same"
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

// maskedRemarks returns the remarks on parts that were not compared, with the reason.
func maskedRemarks(m regress.Masked, command string) (list []remark) {
	verb := "not compared"
	if command == regress.RecordCommand {
		verb = "will not be compared"
	}
	if varying := m.Cases - m.CutOff - m.IgnoredAlone; varying > 0 {
		texts := HolesText(m.Holes)
		if others := m.Parts - m.CutOffParts - m.IgnoredParts - m.Holes.Parts - m.Holes.Whole; others > 0 {
			texts = and(texts, "the kind or presence of "+readable.Count(others, "part"))
		}
		vary := oneOrMany(varying, " that varies", " that vary")
		text := texts + ", in " + readable.Count(varying, "case") + vary + " from run to run"
		if m.Holes.Absent > 0 {
			text += "; a file with a new name is compared, unless --ignore names it"
		}
		list = append(list, labelled(verb, text))
	}
	if m.Ignored > 0 {
		list = append(list, labelled(verb, readable.Count(m.IgnoredParts, "part")+" in "+readable.Count(m.Ignored, "case")+", which --ignore names"))
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

// oneOrMany returns the word that agrees with a number.
func oneOrMany(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
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

// SourceNamesMax bounds the names in a summary.
const SourceNamesMax = namedMax

func sourceRemarks(s regress.Sources, most int) (list []remark) {
	if s.Changed > 0 {
		list = append(list, sentence("sources", notRecorded(s.Changed, s.Known, "source")+": "+namesOf(s.Names, s.Changed, most)))
	}
	if n := s.SharedDiffering(); n > 0 {
		list = append(list, sentence("shared files", notRecorded(n, s.Shared, "shared file")+": "+namesOf(s.SharedNames, n, most)))
	}
	return list
}

// notRecorded returns how many of some files differ from the record.
func notRecorded(n, of int, what string) string {
	return readable.Number(n) + " of " + readable.Count(of, what) + oneOrMany(n, " is not the one recorded", " are not those recorded")
}

// namesOf prints at most most of the first names, and how many of all it leaves out.
func namesOf(first []string, all, most int) string {
	shown := name.PrintAll(name.First(first, most))
	text := strings.Join(shown, ", ")
	if more := all - len(shown); more > 0 {
		text += " and " + readable.Number(more) + " more"
	}
	return text
}

// FailureText returns a failure in one line.
func FailureText(f regress.Failure) string {
	text := name.Print(f.Name) + ": " + f.Ending.String()
	if f.Line != "" {
		text += ": " + readable.Line(f.Line)
	}
	return text
}

// failureRemarks returns a remark on each failing case that the summary names.
func failureRemarks(s regress.Summary) (list []remark) {
	for _, f := range s.Failing {
		list = append(list, labelled("failing", FailureText(f)))
	}
	if more := s.Endings.Failing() - len(s.Failing); more > 0 && len(s.Failing) > 0 {
		list = append(list, labelled("failing", readable.Number(more)+" more"))
	}
	return list
}

// toolChanged returns the names of at most most files of the tool that changed since the
// golden was recorded. It returns "" if none changed.
func toolChanged(s regress.Summary, most int) string {
	if len(s.ToolChanged) == 0 {
		return ""
	}
	shown := name.PrintAll(name.First(s.ToolChanged, most))
	text := strings.Join(shown, ", ")
	if more := len(s.ToolChanged) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %s (-v names them)", readable.Count(more, "more file"))
	}
	return text
}

// toolText says how many files the tool has, and how they were found. It returns "" if none is
// known.
func toolText(s regress.Summary) string {
	t := s.Tool
	if t.Files == 0 {
		return ""
	}
	text := "tool: " + readable.Count(t.Files, "file") + ", "
	if t.Observed == 0 {
		text += "not observed: those that its command shows\n"
	} else {
		text += fmt.Sprintf("observed on %s of %s\n", readable.Number(t.Observed), readable.Cases(s.Cases))
	}
	if len(t.Varying) > 0 {
		text += "left out of the tool, as they change while it runs: " + readable.Line(name.List(t.Varying, varyingMax)) + "\n"
	}
	return text
}

const varyingMax = 20 // paths in text

// AddMasked adds the parts of a case that were not compared.
func AddMasked(m *regress.Masked, c Case) {
	if len(c.Masked)+len(c.Ignored) == 0 {
		return
	}
	m.Cases++
	m.Holes.Add(c.Holes)
	m.Parts += len(c.Masked) + len(c.Ignored)
	if len(c.Ignored) > 0 {
		m.Ignored++
		m.IgnoredParts += len(c.Ignored)
	}
	if len(c.Masked) == 0 {
		m.IgnoredAlone++
	} else if c.Ending != nil && c.Ending.Partial() {
		m.CutOff++
		m.CutOffParts += len(c.Masked)
	}
}
