package plainfiles

import (
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// describeSelection returns a selection in the form of golden.json.
func describeSelection(s golden.Selection) *selectionJSON {
	if s.Everything() {
		return nil
	}
	return &selectionJSON{printedAll(s.Globs), printedAll(s.Filters), name.Print(s.Partition), s.Sample}
}

func printedAll(list []string) (printed []string) {
	for _, s := range list {
		printed = append(printed, name.Print(s))
	}
	return printed
}

// selection is the inverse of describeSelection.
func (j *selectionJSON) selection() (s golden.Selection, err error) {
	if j == nil {
		return s, nil
	}
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{j.Cases, &s.Globs}, {j.Filters, &s.Filters}} {
		for _, text := range list.from {
			parsed, err := name.Parse(text)
			if err != nil {
				return s, fault.Inputf("%s: %w", goldenFile, err)
			}
			*list.to = append(*list.to, parsed)
		}
	}
	s.Sample = j.Sample
	if s.Partition, err = name.Parse(j.Partition); err != nil {
		return s, fault.Inputf("%s: %w", goldenFile, err)
	}
	return s, nil
}
