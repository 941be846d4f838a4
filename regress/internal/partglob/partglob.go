// Package partglob picks parts of an outcome by a pattern: `stdout` and `stderr` are the
// streams, and files are named by patterns of package glob. It is pure.
package partglob

import (
	"strings"

	"muster/regress/internal/glob"
	"muster/regress/internal/outcome"
)

// Pattern picks parts. It may be used from any number of goroutines.
type Pattern struct {
	glob  *glob.Set
	scope scope
	root  string // "./" for a pattern that begins so
}

// scope is what a pattern is about.
type scope uint8

const (
	anything scope = iota
	streams        // "stdout" and "stderr", which may be names of files too
	files          // what has a slash; "./stdout" is how reports write such a file
)

// root may stand before a path, and makes a pattern one with a slash.
const root = "./"

func scopeOf(text string) scope {
	switch {
	case text == "stdout", text == "stderr":
		return streams
	case strings.Contains(text, "/"):
		return files
	}
	return anything
}

// Compile reads a pattern. A malformed one is an error of class Input.
func Compile(text string) (*Pattern, error) {
	set, err := glob.Compile(text)
	if err != nil {
		return nil, err
	}
	p := &Pattern{glob: set, scope: scopeOf(text)}
	if strings.HasPrefix(text, root) {
		p.root = root
	}
	return p, nil
}

// Match reports whether the pattern picks the part of that key.
func (p *Pattern) Match(k outcome.Key) bool {
	if k.Place != outcome.File {
		return p.scope != files && p.glob.Match(k.String())
	}
	return p.scope != streams && p.glob.Match(p.root+k.Path)
}
