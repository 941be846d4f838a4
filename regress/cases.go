package regress

import (
	"context"
	"errors"

	"muster/regress/internal/name"
)

// Cases returns the names of the cases that would run, in corpus order: in
// their printable form, or raw.
func Cases(ctx context.Context, o Options, raw bool) (names []string, err error) {
	if err := o.completeFromGolden(ctx); err != nil {
		return nil, err
	}
	s, err := open(ctx, &o, casesCommand)
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
