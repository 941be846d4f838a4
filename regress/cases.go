package regress

import (
	"context"
	"errors"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Cases returns the names of the cases that would run, in corpus order: in
// their printable form, or raw.
func Cases(ctx context.Context, o Options, raw bool) (names []string, err error) {
	if err := o.completeFromGolden(); err != nil {
		return nil, err
	}
	s, err := open(ctx, &o, "cases")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, e := range s.cases {
		if raw {
			names = append(names, e.Name)
		} else {
			names = append(names, name.Print(e.Name))
		}
	}
	return names, nil
}

// only restricts a selection to one case by its printed or raw name.
func (s *session) only(printed string) (task, error) {
	raw, err := parseName(printed)
	if err != nil {
		return task{}, err
	}
	for i, e := range s.cases {
		if e.Name == raw {
			return task{i, e}, nil
		}
	}
	return task{}, fault.Emptyf("no case %s in %s: muster cases lists them", printed, s.o.Corpus.Path)
}
