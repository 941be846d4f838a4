package lane

import (
	"errors"
	"syscall"
)

// FilesMax bounds the files and folders that one case may leave. A case with more reaches the
// output limit, since each costs memory here and in the parent.
const FilesMax = 100_000

// errTooMany reports more than FilesMax files, or a path longer than the kernel takes.
var errTooMany = errors.New("too many files")

// changes lists the files of the work folder that may be new, changed or gone, each once. It
// also lists the folders that were not there before the case, inner ones first.
type changes struct {
	names   []string
	folders []string
}

// reset forgets the changes of an earlier case.
func (c *changes) reset() {
	if len(c.names) > namesKept {
		c.names = nil
	}
	c.names, c.folders = c.names[:0], nil
}

func (c *changes) tooMany() bool { return len(c.names)+len(c.folders) > FilesMax }

// findChanges finds out what the case changed in the work folder, mostly from events. Some
// changes need a walk, which finds new files, or a look at ctime, which shows that a given
// file was written.
func (h *helper) findChanges() error {
	f := &h.folder
	if f.watch.broken {
		// A case may have taken the right to read them: openDir restores it.
		for _, dir := range []string{f.root, f.work} {
			if fd, err := openDir(atCwd, dir); err == nil {
				syscall.Close(fd)
			}
		}
	}
	if f.watch.needsWalk {
		if err := f.walk("", &h.changes); err != nil {
			return err
		}
	} else {
		for name := range f.watch.names {
			h.changes.names = append(h.changes.names, name)
		}
	}
	if f.watch.inDoubt {
		h.addTouched()
	}
	return nil
}

// addTouched adds the given files that may have changed without an event.
func (h *helper) addTouched() {
	f := &h.folder
	for name, p := range f.given {
		if _, had := f.watch.names[name]; had && !f.watch.needsWalk {
			continue
		}
		// A link to where its folder went leads to it still.
		if f.mayBeTouched(p, h.began) || f.watch.broken && !f.hasFolders(name) {
			h.changes.names = append(h.changes.names, name)
		}
	}
}

// walk adds every file below dir that was not given, and every folder that was not there
// before the case.
func (f *folder) walk(dir string, c *changes) error {
	path := f.work
	if dir != "" {
		path += "/" + dir
	}
	var inner []string
	err := eachEntry(path, func(e entry) error {
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
			c.folders = append(c.folders, name)
		}
		if c.tooMany() {
			return errTooMany
		}
	}
	return nil
}

// hasFolders reports whether everything above a file is still a folder. A link among them
// would lead out of the lane.
func (f *folder) hasFolders(name string) bool {
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
