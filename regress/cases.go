package regress

import (
	"context"
	"errors"

	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// Cases returns the names of the cases that a check would run, in corpus order:
// in their printable form, or raw.
func Cases(ctx context.Context, o Options, raw bool) (names []string, err error) {
	base, err := o.goldenIfAny(ctx)
	if err != nil {
		return nil, err
	}
	var recorded *golden.Store
	if base != nil {
		defer func() { err = errors.Join(err, base.Close()) }()
		recorded = base.Store
		o.asRecorded(recorded.Meta())
		o.Select.asRecorded(recorded.Meta())
	}
	s, err := openAgainst(ctx, &o, casesCommand, recorded)
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
