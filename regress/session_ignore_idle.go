package regress

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// idleGlobs are the globs of --ignore that have matched no part so far. A glob that matches no
// part in the whole run is probably misspelt.
type idleGlobs []idleGlob

type idleGlob struct {
	text    string
	pattern *partglob.Pattern
}

// watchIgnored has finish note the globs that matched no part. A check does so only for globs
// that are not the golden's, as its record did so.
func (s *session) watchIgnored() {
	for i, text := range s.o.Judge.Ignore {
		s.idle = append(s.idle, idleGlob{text, s.ignored[i]})
	}
}

// drop removes the globs that match one of the ignored parts of a case.
func (g *idleGlobs) drop(parts []string) {
	for _, part := range parts {
		if len(*g) == 0 {
			return
		}
		k := partKey(part)
		*g = slices.DeleteFunc(*g, func(one idleGlob) bool { return one.pattern.Match(k) })
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

// noteIdle notes the globs that are left after all cases.
func (s *session) noteIdle() {
	for _, g := range s.idle {
		s.events.Note(fmt.Sprintf("--ignore %q names no part of %s%s", g.text, readable.Cases(len(s.cases)), globHint(g.text)))
	}
}

// globHint returns what may have been meant by a glob that matches nothing.
func globHint(glob string) string {
	switch {
	case strings.HasPrefix(glob, "/"):
		return ": paths are relative, as reports print them"
	case !strings.ContainsAny(glob, "*?[{"):
		return fmt.Sprintf(": files in a folder are %q", strings.TrimSuffix(glob, "/")+"/**")
	}
	return ""
}
