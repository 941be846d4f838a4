package run

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// unusedGlobs are the globs of --ignore that have matched no part so far. A glob that matches
// no part in the whole run is probably misspelt.
type unusedGlobs []unusedGlob

type unusedGlob struct {
	text    string
	pattern *partglob.Pattern
}

// drop removes the globs that match one of the ignored parts of a case.
func (g *unusedGlobs) drop(parts []string) {
	for _, part := range parts {
		if len(*g) == 0 {
			return
		}
		k := partKey(part)
		*g = slices.DeleteFunc(*g, func(one unusedGlob) bool { return one.pattern.Match(k) })
	}
}

// partKey is the inverse of outcome.PartName.
func partKey(part string) outcome.Key {
	switch part {
	case "stdout":
		return outcome.Key{Place: outcome.Stdout}
	case "stderr":
		return outcome.Key{Place: outcome.Stderr}
	}
	return outcome.Key{Place: outcome.File, Path: strings.TrimPrefix(part, "./")}
}

// notes returns a text for each glob that is left after all cases.
func (g *unusedGlobs) notes(cases int) (texts []string) {
	for _, one := range *g {
		texts = append(texts, fmt.Sprintf("--ignore %q names no part of %s%s", one.text, readable.Cases(cases), globHint(one.text)))
	}
	return texts
}

// globHint returns a hint for a glob that matches nothing, or "".
func globHint(glob string) string {
	switch {
	case strings.HasPrefix(glob, "/"):
		return ": paths are relative, as reports print them"
	case !strings.ContainsAny(glob, "*?[{"):
		return fmt.Sprintf(": files in a folder are %q", strings.TrimSuffix(glob, "/")+"/**")
	}
	return ""
}
