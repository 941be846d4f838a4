package regress

import (
	"fmt"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// matchOnly returns a function that reports whether Only has a case.
func matchOnly(s *Selection) func(name string) bool {
	if s.Only == nil {
		return func(string) bool { return true }
	}
	set := make(map[string]bool, len(s.Only))
	for _, name := range s.Only {
		set[name] = true
	}
	return func(name string) bool { return set[name] }
}

// choose picks the selected cases. If the golden is not nil, choose also lists its selected
// cases that the corpus lacks.
func (s *session) choose(base *golden.Store) error {
	all := s.corpus.Cases()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	recorded, err := planBaseline(&s.o.Select, base)
	if err != nil {
		return err
	}
	chosen, wanted := s.chooser.Choose(names, recorded), matchOnly(&s.o.Select)
	if len(chosen.Run) == len(all) && s.o.Select.Only == nil {
		s.cases = all
	} else {
		for _, i := range chosen.Run {
			if wanted(all[i].Name) {
				s.cases = append(s.cases, all[i])
			}
		}
	}
	s.lacking = slices.DeleteFunc(chosen.Missing, func(name string) bool { return !wanted(name) })
	s.ledger.Summary.NotSampled = chosen.NotSampled
	switch {
	case len(all) == 0:
		return fault.Emptyf("%s holds no case", s.o.Corpus.Path)
	case len(s.cases) == 0 && s.name != report.CheckCommand: // there what is missing counts, too
		return s.nothing()
	}
	return nil
}

// nothing says that no case is selected.
func (s *session) nothing() error {
	text := fmt.Sprintf("none of the %s of %s is selected", readable.Cases(len(s.corpus.Cases())), s.o.Corpus.Path)
	given, recorded := name.QuoteAll(planSelection(&s.o.Select).Flags()), quoteRecorded(s.o.Select.Recorded)
	switch {
	case given != "" && recorded != "":
		text += " by both " + given + " and the selection of the golden, " + recorded + ": select other cases, or lift the golden's selection with --all-cases"
	case given != "":
		text += " by " + given
	case recorded != "":
		text += ": the golden was recorded with " + recorded + ", and --all-cases lifts that"
	}
	return fault.Emptyf("%s", text)
}

// find returns the selected case of a printed or raw name.
func (s *session) find(printed string) (pass.Task, error) {
	raw, err := name.ParseTyped(printed)
	if err != nil {
		return pass.Task{}, err
	}
	for i, e := range s.cases {
		if e.Name == raw {
			return pass.Task{Index: i, Entry: &s.cases[i]}, nil
		}
	}
	known := make([]string, len(s.cases))
	for i, e := range s.cases {
		known[i] = e.Name
	}
	return pass.Task{}, fault.Emptyf("no case %s in %s%s: muster cases lists them", name.Print(raw), s.o.Corpus.Path, name.Near(raw, known))
}
