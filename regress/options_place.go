package regress

import (
	"muster/regress/host"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// placeOptions returns the options with which the places of goldens are found.
func placeOptions(o *Options, h host.Host) place.Options {
	return place.Options{State: state.Open(o.Store.State), Client: h.Files}
}
