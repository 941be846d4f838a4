package exec

import (
	"slices"
	"strings"
)

// Locale is the one in which cases run, unless they are told another.
const Locale = "LC_ALL=C.UTF-8"

// Environment is what a case finds in its environment: own is of where it runs, as folders
// are, and extra wins over the rest. All are NAME=VALUE.
func Environment(own, extra []string) []string {
	env := append(slices.Clone(own), Locale, "TZ=UTC", "SOURCE_DATE_EPOCH=1577836800")
	for _, kv := range extra {
		key, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, key+"=") })
		env = append(env, kv)
	}
	return env
}
