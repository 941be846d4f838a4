package reapi

import (
	"slices"
	"strings"
	"time"

	"muster/regress/internal/exec"
)

// Setting says how cases become actions. OutputMax must be set; all else may be left out.
// What is in it is in an action's digest, but for OutputMax and what of the outputs counts.
type Setting struct {
	Env       []string // K=V, beside what every case gets
	Platform  []Property
	Timeout   time.Duration
	OutputMax int64 // bytes

	// Outputs is for engines that do not give back the whole work folder. It says which
	// names are asked for of a case, and which of the files that come for them count: what
	// a name asks for may be a folder. A nil counts is all.
	Outputs func(job exec.Job) (names []string, counts func(path string) bool)
}

// environment is what a case finds on a worker; extra wins. PATH is not the caller's, which
// is of another machine. An engine has no empty home for each case; sandboxes have a /tmp.
// locales is where the data of the usual locale are, if they travel.
func environment(extra []string, locales string) []string {
	env := exec.Environment([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/tmp",
		"TMPDIR=/tmp",
	}, extra)
	if locales != "" && slices.Contains(env, exec.Locale) && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "LOCPATH=") }) {
		env = append(env, "LOCPATH="+locales) // of another locale a worker may have the data
	}
	return env
}
