package goldens

import (
	"context"
	"errors"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/wholegolden"
)

// Info prints the golden's origin, settings, accepts and sizes.
func Info(ctx context.Context, o regress.Options, h host.Host) (err error) {
	base, err := place.Open(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	info, err := wholegolden.Describe(o.Store.Golden, base.Store)
	if err != nil {
		return err
	}
	if o.Report.Format == regress.JSON {
		return report.EncodeLine(h.Stdout, info)
	}
	return info.WriteText(h.Stdout)
}
