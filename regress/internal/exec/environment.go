package exec

import (
	"slices"
	"strings"
)

// Locale is the locale of cases, unless they set another.
const Locale = "LC_ALL=C.UTF-8"

// Environment returns the environment of a case, as NAME=VALUE. own depends on the executor:
// its folders, for example. extra overrides the rest.
func Environment(own, extra []string) []string {
	env := append(slices.Clone(own), Locale, "TZ=UTC", "SOURCE_DATE_EPOCH=1577836800")
	for _, kv := range extra {
		key, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, key+"=") })
		env = append(env, kv)
	}
	return env
}
