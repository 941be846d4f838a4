package main

import (
	"fmt"

	"muster/internal/nearest"
)

// suggest suggests the known name that is fewest edits away, if that is few.
func suggest(name string, known []string) string {
	near := nearest.Names(name, known, 1)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near[0])
}

// secretHint is for a name that would put the engine's token where others can read it.
func secretHint(name string) string {
	if name != "remote-token" {
		return ""
	}
	return " (a token is taken from " + remoteTokenVariable + " alone)"
}
