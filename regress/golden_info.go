package regress

import (
	"context"
	"errors"

	"muster/regress/host"
	"muster/regress/internal/goldens"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
)

// GoldenInfo prints the golden's origin, settings, accepts and sizes.
func GoldenInfo(ctx context.Context, o Options, h host.Host) (err error) {
	base, err := place.Open(ctx, o.Store.Golden, placeOptions(&o, h))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	info, err := goldens.Describe(o.Store.Golden, base.Store)
	if err != nil {
		return err
	}
	if o.Report.Format == JSON {
		return report.EncodeLine(h.Stdout, info)
	}
	return info.WriteText(h.Stdout)
}
