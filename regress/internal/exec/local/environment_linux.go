package local

import (
	"os"
	"slices"
	"strings"
)

// environment returns what a case finds in its environment; extra wins.
func environment(extra []string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + Canonical + "/home",
		"TMPDIR=" + Canonical + "/tmp",
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"SOURCE_DATE_EPOCH=1577836800",
	}
	for _, kv := range extra {
		key, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, key+"=") })
		env = append(env, kv)
	}
	return env
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
