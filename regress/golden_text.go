package regress

import (
	"context"
	"errors"

	"muster/regress/host"
	"muster/regress/internal/goldens"
	"muster/regress/internal/place"
)

// GoldenText prints the golden as lines of text, for git diff.
func GoldenText(ctx context.Context, o Options, h host.Host) error {
	base, err := place.Open(ctx, o.Store.Golden, placeOptions(&o, h))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	return errors.Join(goldens.WriteText(ctx, h.Stdout, base.Store), base.Close())
}
