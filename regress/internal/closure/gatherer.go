package closure

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/filestamp"
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

	// Others says that other cases ran meanwhile, so that new files may be theirs.
	Others bool

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
		if strings.HasPrefix(u.state, "p") { // a pipe's
			g.setBlind(contacts + "pipe " + u.path)
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
	isSame := u.state == now || u.kind&observe.Written == 0 && areAlike(u.state, now) ||
		u.isOnlyWritten() && withoutContent(u.state) == withoutContent(now)
	u.varies = u.varies || u.state != "" && u.listed == listed && !isSame
	u.state, u.listed = now, listed
}

// isOnlyWritten reports whether the tool writes to a path, and does not read there.
func (u *use) isOnlyWritten() bool {
	return u.kind&observe.Written != 0 && u.kind&(observe.Opened|observe.Executed|observe.Listed) == 0
}

// Closure returns the closure of all observed runs. It computes the digests of its files, or takes
// them from the cache. Its errors are of class Input for a file that is too large, else of class
// Environment.
func (g *Gatherer) Closure(digests *filedigest.Cache) (*Closure, error) {
	b := builder{g: g, c: &Closure{Own: g.Own}, digests: digests, known: map[string]bool{}, written: map[string][]*use{}}
	for path, u := range g.uses {
		if u.kind&observe.Written != 0 {
			b.written[filepath.Dir(path)] = append(b.written[filepath.Dir(path)], u)
		}
	}
	for _, isExecuted := range []bool{true, false} { // a file that is also opened is known as executed
		for _, path := range slices.Sorted(maps.Keys(g.uses)) {
			if u := g.uses[path]; (u.kind&observe.Executed != 0) == isExecuted {
				if err := b.add(u); err != nil {
					return nil, err
				}
			}
		}
	}
	b.c.Sort()
	return b.c, nil
}

// builder makes a closure of uses.
type builder struct {
	g       *Gatherer
	c       *Closure
	digests *filedigest.Cache
	known   map[string]bool   // paths
	written map[string][]*use // what the tool wrote, by folder
	made    map[string]bool   // the same without links, of what is there; see isMade
}

// add adds one path.
func (b *builder) add(u *use) error {
	isExecuted := u.kind&observe.Executed != 0
	switch {
	case b.known[u.path] || b.isLeft(u.path):
		return nil
	case u.isOnlyWritten(), u.kind&observe.Written != 0 && strings.HasPrefix(u.state, absent):
		b.addWritten(u)
		return nil
	case u.kind&observe.Written != 0 && b.isFresh(u):
		b.c.Varying = append(b.c.Varying, u.path)
		return nil
	case u.varies && isExecuted:
		return &Change{u.path, "it was replaced between two cases"}
	case u.varies || !isExecuted && b.isFresh(u) && b.isMade(u):
		b.c.Varying = append(b.c.Varying, u.path)
		return nil
	case isFileState(u.state) && (u.kind&^observe.Asked != 0 || sizeOf(u.state) <= askedBytesMax):
		as := Opened
		if isExecuted {
			as = Program
		}
		return b.addFile(u.path, u.state, as)
	}
	b.addPlace(Place{Path: u.path, State: u.state, IsListed: u.listed})
	return nil
}

// addWritten adds a path that the tool only writes to, or removes. It keeps only what decides whether the write
// succeeds: what kind of thing is there, and if nothing is, whether the folder around it exists. The content of an
// executed file that is gone is unknown, so that path varies.
func (b *builder) addWritten(u *use) {
	if u.varies || u.kind&observe.Executed != 0 {
		b.c.Varying = append(b.c.Varying, u.path)
		return
	}
	b.addPlace(Place{Path: u.path, State: withoutContent(u.state), IsWritten: true})
	if dir := filepath.Dir(u.path); strings.HasPrefix(u.state, absent) && !b.known[dir] && !b.isLeft(dir) {
		b.addPlace(Place{Path: dir, State: withoutContent(b.g.Own.StateOf(dir, false)), IsWritten: true})
	}
}

func (b *builder) isLeft(path string) bool {
	return b.g.Own.has(path) || b.g.Leave != nil && b.g.Leave(path)
}

// isFresh reports whether the content of a file, or the names in a listed folder, changed since the
// first case began. The time of a change of the inode counts, which nothing can set, where the tool writes
// a file or the other time lies in the future: else a mode that it sets would make its files fresh.
func (b *builder) isFresh(u *use) bool {
	info, err := os.Stat(u.path)
	if err != nil || info.IsDir() && !u.listed || b.g.Began.IsZero() {
		return false
	}
	changed := info.ModTime()
	isWritten := !info.IsDir() && u.kind&observe.Written != 0
	if st, ok := info.Sys().(*syscall.Stat_t); ok && (isWritten || changed.After(time.Now())) {
		changed = filestamp.ChangeTime(st)
	}
	return !changed.Before(b.g.Began.Truncate(time.Microsecond))
}

// isMade reports whether the tool itself, or another case, may have made a new file, or new names in a
// listed folder. If not, somebody else did, and what is there now counts.
//
// If the observed runs made one thing in a listed folder, all the same one, and it is there, that is a cache
// which the first run of the tool makes: other cases will make no more there.
func (b *builder) isMade(u *use) bool {
	if b.g.Others {
		return true
	}
	if u.listed {
		made := b.written[u.path]
		return len(made) > 1 || len(made) == 1 && strings.HasPrefix(made[0].state, absent)
	}
	if b.made == nil {
		b.made = map[string]bool{}
		for path, w := range b.g.uses {
			if resolved, err := filepath.EvalSymlinks(path); err == nil && w.kind&observe.Written != 0 {
				b.made[resolved] = true
			}
		}
	}
	at, err := filepath.EvalSymlinks(u.path)
	if err != nil || b.made[at] {
		return true
	}
	for at != "/" { // it may be in a folder that was renamed
		at = filepath.Dir(at)
		if b.made[at] && b.isFresh(&use{path: at, kind: observe.Written, listed: true}) {
			return true
		}
	}
	return false
}

func (b *builder) addPlace(p Place) {
	b.known[p.Path] = true
	b.c.Places = append(b.c.Places, p)
}

// addFile adds a file. stamp is the file's stamp after the observed runs.
func (b *builder) addFile(path, stamp string, as Role) error {
	if b.known[path] {
		return nil
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || b.isLeft(resolved) {
		return nil // gone since: the next look finds that
	}
	digest, err := b.digests.Of(path, fileBytesMax)
	switch {
	case errors.Is(err, fs.ErrPermission): // perhaps it may be executed, but not read
		b.addPlace(Place{Path: path, State: b.g.Own.StateOf(path, false)})
		return nil
	case errors.Is(err, filedigest.ErrTooLarge):
		return fault.Inputf("%s, a file of the tool, is too large to compare: leave it out with --no-tool-file", name.Print(path))
	case err != nil:
		return fault.Environmentf("%s, a file of the tool, cannot be read: %w", name.Print(path), fault.Reason(err))
	}
	if stamp != digest.Stamp && !areAlike(stamp, digest.Stamp) && as == Opened {
		b.c.Varying = append(b.c.Varying, path)
		return nil
	}
	b.known[path] = true
	b.c.Files = append(b.c.Files, File{path, as, digest.Hash, digest.Stamp, digest.IsTrusted})
	return nil
}
