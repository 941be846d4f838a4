package regress

import (
	"muster/regress/host"
	"muster/regress/internal/opt"
	"muster/regress/internal/place"
)

// placeOptions returns the options with which the places of goldens are found.
func placeOptions(o *opt.Options, h host.Host) place.Options {
	return place.NewOptions(o.Store.State, h.Files)
}
