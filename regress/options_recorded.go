package regress

import (
	"context"

	"muster/regress/host"
	"muster/regress/internal/golden"
	"muster/regress/internal/opt"
	"muster/regress/internal/place"
)

// recordedIn returns what the golden tells about its record; nil if there is no golden, or none is
// named.
func recordedIn(ctx context.Context, o *opt.Options, h host.Host) (*golden.Meta, error) {
	base, err := place.OpenIfAny(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil || base == nil {
		return nil, err
	}
	m := base.Meta()
	return &m, base.Close()
}
