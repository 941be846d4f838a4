package goldens

import (
	"context"
	"errors"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/place"
	"muster/regress/internal/wholegolden"
)

// Text prints the golden as lines of text, for git diff.
func Text(ctx context.Context, o regress.Options, h host.Host) error {
	base, err := place.Open(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	return errors.Join(wholegolden.WriteText(ctx, h.Stdout, base.Store), base.Close())
}
