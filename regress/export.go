package regress

import (
	"context"
	"errors"
	"time"

	"muster/regress/internal/golden"
	"muster/regress/internal/plainfiles"
)

// Export writes a golden as plain files into dir, which must be new or empty.
func Export(ctx context.Context, o Options, dir string) (err error) {
	base, err := golden.Open(o.Store.Golden)
	if err != nil {
		return noGolden(o.Store.Golden, err)
	}
	return errors.Join(plainfiles.Export(ctx, base, dir), base.Close())
}

// Import makes a golden of what Export wrote. It knows no costs.
func Import(ctx context.Context, o Options, dir string) error {
	return plainfiles.Import(ctx, dir, o.Store.Golden, golden.Meta{
		Machine: machine(), MusterVersion: o.Version, Created: time.Now(), Repeat: 1,
	})
}
