package regress

import (
	"context"
	"errors"

	"muster/regress/internal/goldens"
	"muster/regress/internal/place"
)

// GoldenText prints the golden as lines of text, for git diff.
func GoldenText(ctx context.Context, o Options) error {
	base, err := place.Open(ctx, o.Store.Golden, placeOptions(&o))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	return errors.Join(goldens.WriteText(ctx, o.Report.Stdout, base.Store), base.Close())
}
