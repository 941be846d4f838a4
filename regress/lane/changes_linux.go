package lane

import (
	"errors"
	"syscall"
)

// FilesMax bounds how many files and folders one case may leave: more is taken
// as reaching the output limit, since each costs memory here and in the parent.
const FilesMax = 100_000

// errTooMany says that a case left more than that, or a path longer than the
// kernel takes.
var errTooMany = errors.New("too many files")

// changes are the names in the work folder that may be new, changed or gone,
// each once, and the folders that do not belong there, inner ones first.
type changes struct {
	names   []string
	strange []string
}

// reset forgets what an earlier case left.
func (c *changes) reset() {
	if len(c.names) > namesKept {
		c.names = nil
	}
	c.names, c.strange = c.names[:0], nil
}

func (c *changes) tooMany() bool { return len(c.names)+len(c.strange) > FilesMax }

// findChanges says what the case did in the work folder. Mostly the events tell.
// After strange deeds only a walk can say what is new, and only ctime whether a
// given file was written.
func (h *helper) findChanges() error {
	f := &h.folder
	if f.watch.broken {
		// For the one whom the case shut out.
		for _, dir := range []string{f.root, f.work} {
			if fd, err := openDir(atCwd, dir); err == nil {
				syscall.Close(fd)
			}
		}
	}
	if f.watch.walk {
		if err := f.walk("", &h.changes); err != nil {
			return err
		}
	} else {
		for name := range f.watch.names {
			h.changes.names = append(h.changes.names, name)
		}
	}
	if f.watch.doubt {
		h.addTouched()
	}
	return nil
}

// addTouched adds the given files that may have changed without an event.
func (h *helper) addTouched() {
	f := &h.folder
	for name, p := range f.given {
		if _, had := f.watch.names[name]; had && !f.watch.walk {
			continue
		}
		// A link to where its folder went leads to it still.
		if f.touched(p, h.began) || f.watch.broken && !f.inPlace(name) {
			h.changes.names = append(h.changes.names, name)
		}
	}
}

// walk adds every file below dir that was not given, and every folder that does
// not belong there.
func (f *folder) walk(dir string, c *changes) error {
	path := f.work
	if dir != "" {
		path += "/" + dir
	}
	var inner []string
	err := each(path, func(e entry) error {
		name := join(dir, e.name)
		if e.dir {
			inner = append(inner, name)
		} else if f.given[name] == nil {
			c.names = append(c.names, name)
		}
		if c.tooMany() || len(inner) > FilesMax {
			return errTooMany
		}
		return nil
	})
	switch {
	case err == nil:
	case errors.Is(err, syscall.ENAMETOOLONG):
		return errTooMany
	case dir == "" && !isFolder(f.work):
		return nil // all given files are gone
	default:
		return err
	}
	for _, name := range inner {
		if err := f.walk(name, c); err != nil {
			return err
		}
		if _, ours := f.dirs[name]; !ours {
			c.strange = append(c.strange, name)
		}
		if c.tooMany() {
			return errTooMany
		}
	}
	return nil
}

// inPlace reports whether all folders above a file are what they were by kind.
// With a link among them the name would lead out of the lane.
func (f *folder) inPlace(name string) bool {
	if !isFolder(f.root) || !isFolder(f.work) {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' && !isFolder(f.work+"/"+name[:i]) {
			return false
		}
	}
	return true
}

func isFolder(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR
}
