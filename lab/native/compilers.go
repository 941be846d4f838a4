package native

import (
	"context"
	"errors"
	"strconv"

	"muster/lab/results"
)

// A Compiler builds the contestants of one language.
type Compiler struct {
	Language string           // with the oldest JDK that suffices, such as Java 17+
	Version  string           // as the compiler reports it
	Missing  *results.Missing // nil = the compiler is there
}

// Compilers looks for the compilers of all programs, in the order of the programs. It builds nothing, so
// libraries may still be missing.
func Compilers(ctx context.Context) (list []Compiler, err error) {
	type need struct {
		compiler string
		jdk      int
	}
	seen := map[need]bool{}
	for _, p := range Programs() {
		n := need{p.build[0], p.jdk}
		if seen[n] {
			continue
		}
		seen[n] = true
		c := Compiler{Language: p.Language}
		if p.jdk > 0 {
			c.Language += " " + strconv.Itoa(p.jdk) + "+"
		}
		if c.Version, err = p.compilerVersion(ctx); err != nil && !errors.As(err, &c.Missing) {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
