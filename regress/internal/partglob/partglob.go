// Package partglob selects parts of an outcome by a pattern. `stdout` and `stderr` are the streams,
// and patterns of package glob select files. It is pure.
package partglob

import (
	"strings"

	"muster/regress/internal/glob"
	"muster/regress/internal/outcome"
)

// Pattern selects parts. Any number of goroutines may use it.
type Pattern struct {
	glob  *glob.Set
	scope scope
	root  string // "./" for a pattern with that prefix
}

// scope is the kind of parts that a pattern selects.
type scope uint8

const (
	anything scope = iota
	streams        // "stdout" and "stderr", which may also be names of files
	files          // a pattern with a slash; "./stdout" is how reports write such a file
)

// root is a prefix that makes a pattern one with a slash.
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

// Match reports whether the pattern selects the part with a key.
func (p *Pattern) Match(k outcome.Key) bool {
	if k.Place != outcome.File {
		return p.scope != files && p.glob.Match(k.String())
	}
	return p.scope != streams && p.glob.Match(p.root+k.Path)
}
