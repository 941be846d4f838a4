package report

import (
	"muster/internal/readable"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Failure is a case that did not exit with 0 when it was recorded.
type Failure struct {
	Name   string         `line:"name,name"`
	Ending outcome.Ending `line:"ended" v1:"ending"`
	Line   string         `line:"error" v1:"line"` // the first line of its error output; "" if it printed nothing
}

// String returns the failure in one line.
func (f Failure) String() string {
	text := name.Print(f.Name) + ": " + f.Ending.String()
	if f.Line != "" {
		text += ": " + readable.Line(f.Line)
	}
	return text
}

// failureRemarks returns a remark on each failing case that the summary names.
func failureRemarks(s Summary) (list []remark) {
	for _, f := range s.Failing {
		list = append(list, labelled("failing", f.String()))
	}
	if more := s.Endings.Failing() - len(s.Failing); more > 0 && len(s.Failing) > 0 {
		list = append(list, labelled("failing", readable.Number(more)+" more"))
	}
	return list
}
