package report

import (
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// Failure is a case that did not exit with 0 when it was recorded.
type Failure struct {
	Name   string
	Ending outcome.Ending
	Line   string // the first line of its error output; "" if it printed nothing
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

// jsonFailure is a failing case for scripts.
type jsonFailure struct {
	Name   printed `json:"name"`
	Ending string  `json:"ending"`
	Error  string  `json:"error"`
}

func toJSONFailures(failing []Failure) []jsonFailure {
	list := []jsonFailure{}
	for _, f := range failing {
		list = append(list, jsonFailure{printed(f.Name), f.Ending.String(), readable.Line(f.Line)})
	}
	return list
}

// wireFailure is a failing case in an events file.
type wireFailure struct {
	Name   printed     `json:"name"`
	Ending *wireEnding `json:"ending"`
	Line   string      `json:"line"`
}

func failuresToWire(failing []Failure) (list []wireFailure) {
	for _, f := range failing {
		list = append(list, wireFailure{printed(f.Name), toWireEnding(&f.Ending), readable.Text(f.Line)})
	}
	return list
}

func failuresFromWire(list []wireFailure) (failing []Failure) {
	for _, w := range list {
		if e := w.Ending.ending(); e != nil {
			failing = append(failing, Failure{string(w.Name), *e, w.Line})
		}
	}
	return failing
}
