package main

import (
	"fmt"

	"muster/internal/nearest"
)

// suggest returns a hint with the known name that is the fewest edits away, if they are few.
func suggest(name string, known []string) string {
	near := nearest.Names(name, known, 1)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near[0])
}

// secretHint explains why a setting for the engine's token does not exist: others could read it
// there.
func secretHint(name string) string {
	if name != "remote-token" {
		return ""
	}
	return " (a token is taken from " + remoteTokenVariable + " alone)"
}
