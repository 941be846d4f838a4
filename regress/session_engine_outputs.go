package regress

import (
	"path"
	"strings"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// partial warns that the engine does not give back all that a case leaves.
func (s *session) partial() error {
	for _, pattern := range s.o.Remote.Outputs {
		if _, _, err := asked(pattern, "x"); err != nil {
			return err
		}
	}
	s.events.Warn("the engine does not give back the whole work folder: files that neither the golden nor --remote-output names are not seen")
	return nil
}

// expect says which names a case is known to leave, before it starts.
func (e *engine) expect(left func(caseName string) []string) {
	if e != nil {
		e.left = left
	}
}

func (e *engine) expected(caseName string) []string {
	if e == nil || e.left == nil {
		return nil
	}
	return e.left(caseName)
}

// filesLeft returns which files a golden knows that a case leaves.
func filesLeft(g *golden.Store) func(caseName string) []string {
	return func(caseName string) (names []string) {
		rec, _, err := g.Get(caseName)
		if err != nil {
			return nil // the comparison says so
		}
		for _, p := range rec.Outcome.Parts {
			if p.Place == outcome.File {
				names = append(names, p.Path)
			}
		}
		return names
	}
}

// outputsOf are the names that an engine is asked for of a case, and which of the files that
// come for them count.
func (s *session) outputsOf(job exec.Job) (names []string, counts func(string) bool) {
	var c counting
	for _, pattern := range s.o.Remote.Outputs {
		one, globs, err := asked(pattern, job.Source.Name)
		if err != nil {
			continue // it was refused before the first case
		}
		if names = append(names, one); globs != nil {
			c.globs = append(c.globs, globs)
			continue
		}
		c.add(one)
	}
	left := s.engine.expected(job.Source.Name)
	c.add(left...)
	return append(names, left...), c.counts
}

// counting says which files count: those that were named, what is in folders that were, and
// what a pattern matches.
type counting struct {
	named map[string]bool
	globs []*glob.Set
}

func (c *counting) add(names ...string) {
	if c.named == nil {
		c.named = make(map[string]bool, len(names))
	}
	for _, name := range names {
		c.named[name] = true
	}
}

func (c *counting) counts(file string) bool {
	for at := file; at != "."; at = path.Dir(at) {
		if c.named[at] {
			return true
		}
	}
	for _, globs := range c.globs {
		if globs.Match(file) {
			return true
		}
	}
	return false
}

// asked is what an engine that does not give back the whole work folder is asked for by a
// pattern: the name that it makes of a case's; or the folder that it begins with, and then
// globs say what of that counts.
func asked(pattern, caseName string) (wanted string, globs *glob.Set, err error) {
	wanted = pattern
	for strings.ContainsAny(exec.Fill(wanted, "x"), `*?[{\`) { // what a case's name has is no pattern
		wanted = wanted[:max(0, strings.LastIndexByte(wanted, '/'))]
	}
	if wanted != pattern {
		if globs, err = glob.Compile(path.Clean(exec.Fill(pattern, literal(caseName)))); err != nil {
			return "", nil, err
		}
	}
	if wanted = path.Clean(exec.Fill(wanted, caseName)); wanted == "." {
		return "", nil, fault.Inputf("--remote-output %s: this engine does not give back the whole work folder, so it must be asked for names, as {stem}.s, or for what is in a folder, as out/**", pattern)
	}
	return wanted, globs, nil
}

// literal is the pattern that a name alone matches.
func literal(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`*?[]{},\`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
