package place

import (
	"context"

	"muster/regress/internal/mirror"
)

// Find finds the place of that name. It is no error if no golden is there.
func Find(ctx context.Context, name string, o Options) (Place, error) { return find(ctx, name, o) }

// FindTarget finds a place whose golden may be replaced, or made.
func FindTarget(ctx context.Context, name string, o Options) (Target, error) {
	t, err := find(ctx, name, o)
	if err != nil {
		return nil, err
	}
	if err := t.prepare(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func find(ctx context.Context, name string, o Options) (Target, error) {
	if mirror.IsAddress(name) {
		return findAddress(ctx, name, o)
	}
	return file{name}, nil
}
