package bucket

import (
	"crypto/rand"
	"fmt"
	"strings"

	"muster/fileio"
)

// probePrefix begins the names of files that probe and Check write. Clients cannot use them.
const probePrefix = ".muster-probe/"

func probeName() string { return probePrefix + rand.Text() }

// checkName returns an error if a file cannot have this name.
func checkName(name string) error {
	if strings.HasPrefix(name, probePrefix) {
		return fmt.Errorf("%q: %w: names below %s are for checks of the object store", name, fileio.ErrName, probePrefix)
	}
	return fileio.CheckName(name)
}
