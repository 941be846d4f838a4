package closure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/lane/observe"
)

// Gatherer collects what observed runs used. The zero value is ready. One goroutine at a time uses it.
type Gatherer struct {
	// Leave reports whether a file does not belong to the tool, as the user said. It may be nil.
	Leave func(path string) bool

	uses         map[string]*use
	blind        string
	noPrivileges bool
	runs         int
}

// Add adds an observed run that has just ended.
func (g *Gatherer) Add(o *observe.Observation) {
	g.runs++
	g.noPrivileges = g.noPrivileges || o.NoPrivileges
	switch {
	case g.blind != "":
	case o.Blind != "":
		g.blind = o.Blind
	case o.Contact != "":
		g.blind = "the tool connects to a process outside: " + o.Contact
	}
	if g.uses == nil {
		g.uses = map[string]*use{}
	}
	for _, a := range o.Accesses {
		u := g.uses[a.Path]
		if u == nil {
			u = &use{Access: a}
			g.uses[a.Path] = u
		} else {
			u.Kind |= a.Kind
			u.varies = u.varies || u.Form != a.Form
		}
	}
	for _, u := range g.uses {
		u.look()
	}
}

// Blind says why there is no closure, or "".
func (g *Gatherer) Blind() string { return g.blind }

// Closure returns the closure of all observed runs. It computes the digests of its files, or takes
// them from the cache. Its errors are of class Input for a file that is too large, or too many
// files, else of class Environment.
func (g *Gatherer) Closure(digests *filedigest.Cache) (*Closure, error) {
	if len(g.uses) > pathsMax {
		return nil, fault.Inputf("the tool uses more than %s files, the limit: leave some out by --no-tool-file", readable.Number(pathsMax))
	}
	b := builder{c: &Closure{NoPrivileges: g.noPrivileges, Runs: g.runs}, digests: digests, leave: g.Leave, known: map[string]bool{}}
	for _, u := range g.executedFirst() {
		if err := b.add(u, g.isParentWritten(u.Path)); err != nil {
			return nil, err
		}
	}
	c := b.c
	slices.SortFunc(c.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(c.Folders, func(a, b Folder) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(c.Absent)
	slices.Sort(c.Varying)
	return c, nil
}

// executedFirst returns the uses by path, executed files first. A file that is both executed and
// opened by another program is then known as executed.
func (g *Gatherer) executedFirst() []*use {
	list := slices.Collect(maps.Values(g.uses))
	slices.SortFunc(list, func(a, b *use) int {
		return cmp.Or(cmp.Compare(b.Kind&observe.Executed, a.Kind&observe.Executed), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// isParentWritten reports whether the tool itself changes the names in a folder.
func (g *Gatherer) isParentWritten(folder string) bool {
	if g.uses[folder].Kind&observe.Listed == 0 {
		return false // nobody asks
	}
	for path, u := range g.uses {
		if below, ok := strings.CutPrefix(path, folder+"/"); ok && u.Kind&observe.Written != 0 && !strings.Contains(below, "/") {
			return true
		}
	}
	return false
}
