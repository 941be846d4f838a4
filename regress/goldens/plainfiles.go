package goldens

import (
	"context"
	"errors"
	"time"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/golden"
	"muster/regress/internal/place"
	"muster/regress/internal/plainfiles"
	"muster/regress/internal/state"
)

// Export writes a golden as plain files into dir, which must be new or empty.
func Export(ctx context.Context, o regress.Options, h host.Host, dir string) (err error) {
	base, err := place.Open(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	return errors.Join(plainfiles.Export(ctx, base.Store, dir), base.Close())
}

// Import makes a golden of a folder that Export wrote. The golden has no costs.
func Import(ctx context.Context, o regress.Options, h host.Host, dir string) error {
	into, err := place.FindTarget(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return err
	}
	defer into.Close()
	if into.InState() {
		unlock, err := state.Open(o.Store.State).Lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	err = plainfiles.Import(ctx, dir, into.Path(), golden.Meta{
		Machine: golden.Machine(), MusterVersion: o.Version, Created: time.Now(), Repeat: 1,
	})
	if err != nil {
		return err
	}
	return into.Publish(ctx, "muster import does it again")
}
