package reapi

import (
	"slices"
	"strings"
	"time"

	"muster/regress/internal/exec"
)

// Setting describes how cases become actions. OutputMax is required. All of it is part of an
// action's digest, except OutputMax and the choice of outputs that count.
type Setting struct {
	Env       []string // K=V, in addition to the variables of every case
	Platform  []Property
	Timeout   time.Duration
	OutputMax int64 // bytes

	// Outputs is for engines that do not return the whole work folder. It returns the names to
	// request for a case, and a function that reports which of the returned files count: a
	// requested name may be a folder. A nil function means all.
	Outputs func(job exec.Job) (names []string, counts func(path string) bool)
}

// environment returns the variables of a case on a worker. extra overrides them. PATH is not
// the caller's, which belongs to another machine. An engine has no empty home for each case,
// but sandboxes have a /tmp. locales is the folder with the data of the usual locale, if they
// travel.
func environment(extra []string, locales string) []string {
	env := exec.Environment([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/tmp",
		"TMPDIR=/tmp",
	}, extra)
	if locales != "" && slices.Contains(env, exec.Locale) && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "LOCPATH=") }) {
		env = append(env, "LOCPATH="+locales) // a worker may have the data of another locale
	}
	return env
}
