package local

import (
	"os"
	"strings"

	"muster/regress/internal/exec"
)

// environment returns the environment of a case; extra overrides the rest.
func environment(extra []string) []string {
	return exec.Environment([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + Canonical + "/home",
		"TMPDIR=" + Canonical + "/tmp",
	}, extra)
}

// replaceCanonical replaces the canonical path in texts by the real path of a lane without a
// mount namespace.
func replaceCanonical(env []string, root string) []string {
	moved := make([]string, len(env))
	for i, kv := range env {
		moved[i] = strings.ReplaceAll(kv, Canonical, root)
	}
	return moved
}
