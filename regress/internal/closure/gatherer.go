package closure

import (
	"io/fs"
	"os"
	"strings"
	"time"

	"muster/regress/internal/name"
	"muster/regress/lane/observe"
)

// Gatherer collects what observed runs used. Set its fields, and call Add after each run. One
// goroutine at a time uses it.
type Gatherer struct {
	// Leave reports whether a file does not belong to the tool, as the user said. It may be nil.
	Leave func(path string) bool
	// Began is when the first case began. What is written after that is not compared, unless it is
	// executed: the tool itself may have written it.
	Began time.Time

	// Own are muster's own files.
	Own Own

	uses         map[string]*use
	blind        string
	noPrivileges bool
}

// use is what is known of one path.
type use struct {
	path   string
	kind   observe.Kind
	state  string // what was there after the first run that used it
	listed bool   // its names belong to the state
	varies bool   // something else was there after another run
}

// Add adds an observed run that has just ended, and looks at the paths that it used.
func (g *Gatherer) Add(o *observe.Observation) {
	if o.Blind != "" {
		g.setBlind(o.Blind)
	}
	if o.Contact != "" {
		g.setBlind(contacts + o.Contact)
	}
	g.noPrivileges = g.noPrivileges || o.NoPrivileges
	if g.uses == nil {
		g.uses = map[string]*use{}
	}
	used := map[*use]bool{}
	for _, a := range o.Accesses {
		u := g.uses[a.Path]
		if u == nil {
			u = &use{path: a.Path}
			g.uses[a.Path] = u
		}
		u.kind |= a.Kind
		used[u] = true
	}
	for u := range used {
		u.look(g.Own)
		if u.kind&observe.Connected != 0 && strings.HasPrefix(u.state, "S") { // a socket's type in package fs
			g.setBlind(contacts + "socket " + u.path)
		}
		if u.kind&observe.Executed != 0 && g.noPrivileges && isSetUser(u.path) {
			g.setBlind("the tool runs " + name.Print(u.path) + ", which has no privileges while it is observed")
		}
	}
	if len(g.uses) > pathsMax {
		g.setBlind("the tool uses too many files")
	}
}

func isSetUser(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0
}

const contacts = "the tool connects to a process outside: "

func (g *Gatherer) setBlind(why string) {
	if g.blind == "" {
		g.blind = why
	}
}

// Blind says why there is no closure, or "".
func (g *Gatherer) Blind() string { return g.blind }

// look compares what is at the path with what was there before.
func (u *use) look(own Own) {
	listed := u.kind&observe.Listed != 0
	now := own.StateOf(u.path, listed)
	isSame := u.state == now || u.kind&observe.Marked != 0 && isMarkedOnly(u.state, now)
	u.varies = u.varies || u.state != "" && u.listed == listed && !isSame
	u.state, u.listed = now, listed
}
