package report

import (
	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
)

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
