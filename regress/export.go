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
	base, err := o.openGolden(ctx, o.Store.Golden)
	if err != nil {
		return noGolden(o.Store.Golden, err)
	}
	return errors.Join(plainfiles.Export(ctx, base.Store, dir), base.Close())
}

// Import makes a golden of what Export wrote. It knows no costs.
func Import(ctx context.Context, o Options, dir string) error {
	into, err := o.replacing(ctx)
	if err != nil {
		return err
	}
	defer into.close()
	if into.away != nil { // what is written for there is in the state
		unlock, err := into.state.Lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	err = plainfiles.Import(ctx, dir, into.path, golden.Meta{
		Machine: machine(), MusterVersion: o.Version, Created: time.Now(), Repeat: 1,
	})
	if err != nil {
		return err
	}
	return into.publish(ctx, "muster import does it again")
}
