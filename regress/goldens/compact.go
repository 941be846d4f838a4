package goldens

import (
	"context"
	"fmt"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/golden"
	"muster/regress/internal/place"
)

// Compact returns the golden's unused space to the file system, and prints both sizes.
func Compact(ctx context.Context, o regress.Options, h host.Host) error {
	if err := onlyFile(o.Store.Golden, "compact"); err != nil {
		return err
	}
	before, after, err := golden.Compact(ctx, o.Store.Golden)
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	_, err = fmt.Fprintf(h.Stdout, "golden %s: %s before, %s after\n", o.Store.Golden, readable.Size(before), readable.Size(after))
	return err
}
