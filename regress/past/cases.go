package past

import (
	"context"
	"errors"
	"os"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/place"
	"muster/regress/internal/run"
)

// CaseList says which names Cases returns, and how.
type CaseList struct {
	Raw     bool // not in their printable form
	Failing bool // only cases that did not exit with 0 when they were recorded
}

// Cases returns the names of the cases that a check would run, in corpus order.
func Cases(ctx context.Context, o regress.Options, h host.Host, list CaseList) (names []string, err error) {
	base, err := place.OpenIfAny(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err == nil && base == nil && list.Failing {
		err = place.ExplainMissing(o.Store.Golden, os.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	var recorded *golden.Store
	var meta *golden.Meta
	if base != nil {
		defer func() { err = errors.Join(err, base.Close()) }()
		recorded = base.Store
		m := recorded.Meta()
		meta = &m
	}
	j, err := job.Resolve(o, meta, job.CasesCommand)
	if err != nil {
		return nil, err
	}
	s, err := run.Open(ctx, j, h, recorded)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, e := range s.Inputs.Cases {
		if list.Failing {
			rec, _, err := recorded.Get(e.Name) // of a new case the zero Record, which succeeds
			if err != nil {
				return nil, err
			}
			if rec.Outcome.Ending.Success() {
				continue
			}
		}
		if list.Raw {
			names = append(names, e.Name)
		} else {
			names = append(names, name.Print(e.Name))
		}
	}
	return names, nil
}
