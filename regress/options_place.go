package regress

import (
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// placeOptions returns the options with which the places of goldens are found.
func placeOptions(o *Options) place.Options {
	return place.Options{State: state.Open(o.Store.State), Client: o.Files}
}
