package regress

import (
	"bytes"
	"fmt"
	"sync"

	"muster/regress/internal/cause"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/name"
)

// leaks finds cases that differ by the path of the work folder, where one side ran on this
// machine and the other on an engine. Its methods may be called from several goroutines.
type leaks struct {
	watched bool // else both sides have the same path

	mu    sync.Mutex
	cases int
	first string
}

// look looks at a case that differs.
func (l *leaks) look(d cause.Case) {
	if !l.watched {
		return
	}
	for _, p := range d.Parts {
		here := []byte(local.Canonical)
		if bytes.Contains(p.OldText, here) != bytes.Contains(p.NowText, here) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.cases++; l.cases == 1 {
				l.first = d.Name
			}
			return
		}
	}
}

// told says what helps; "" = nothing was found.
func (l *leaks) told() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cases == 0 {
		return ""
	}
	return fmt.Sprintf("in %s, as %s, the path of the work folder stands in what the tool leaves, and an engine's is another than %s/work: "+
		"have the tool leave it out (gcc: -ffile-prefix-map), or take it out of both by --normalize 's,/[^ \"]*work,WORK,'",
		counted(l.cases), name.Print(l.first), local.Canonical)
}

// tellLeaks warns of them.
func (c *checking) tellLeaks() {
	if text := c.leaks.told(); text != "" {
		c.warn(text)
	}
}
