package regress

import (
	"context"
	"errors"

	"muster/regress/internal/goldens"
)

// GoldenText prints the golden as lines of text, for git diff.
func GoldenText(ctx context.Context, o Options) error {
	base, err := o.openGolden(ctx, o.Store.Golden)
	if err != nil {
		return noGolden(o.Store.Golden, err)
	}
	return errors.Join(goldens.WriteText(ctx, o.Report.Stdout, base.Store), base.Close())
}
