package regress

import (
	"muster/regress/internal/fault"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
)

func selection(s *Selection) plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

// only returns whether a case is one of those that are named alone.
func (s *Selection) only() func(name string) bool {
	if s.Only == nil {
		return func(string) bool { return true }
	}
	set := make(map[string]bool, len(s.Only))
	for _, name := range s.Only {
		set[name] = true
	}
	return func(name string) bool { return set[name] }
}

// choose picks the selected cases.
func (s *session) choose() error {
	all := s.corpus.Cases()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	chosen, wanted := s.chooser.Choose(names), s.o.Select.only()
	if len(chosen) == len(all) && s.o.Select.Only == nil {
		s.cases = all
	} else {
		for _, i := range chosen {
			if wanted(all[i].Name) {
				s.cases = append(s.cases, all[i])
			}
		}
	}
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
	return fault.Emptyf("none of the %s of %s is selected", counted(len(s.corpus.Cases())), s.o.Corpus.Path)
}
