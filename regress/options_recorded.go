package regress

import (
	"context"

	"muster/regress/host"
	"muster/regress/internal/job"
	"muster/regress/internal/opt"
	"muster/regress/internal/place"
)

// completeFromGolden fills in what was not given from the golden, if there is
// one, and one is named.
func completeFromGolden(ctx context.Context, o *opt.Options, h host.Host) error {
	base, err := place.OpenIfAny(ctx, o.Store.Golden, placeOptions(o, h))
	if err != nil || base == nil {
		return err
	}
	job.TakeRecorded(o, base.Meta())
	return base.Close()
}
