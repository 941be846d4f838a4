package local

import (
	"os"
	"strings"

	"muster/regress/internal/exec"
)

// environment returns what a case finds in its environment; extra wins.
func environment(extra []string) []string {
	return exec.Environment([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + Canonical + "/home",
		"TMPDIR=" + Canonical + "/tmp",
	}, extra)
}

// seen replaces the canonical path in an environment by where the cases of a
// lane without a mount namespace really are.
func seen(env []string, root string) []string {
	moved := make([]string, len(env))
	for i, kv := range env {
		moved[i] = strings.ReplaceAll(kv, Canonical, root)
	}
	return moved
}
