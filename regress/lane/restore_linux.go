package lane

import (
	"errors"
	"syscall"
)

// restoreLane prepares the lane for the next case. After the last case of a batch the parent
// already has all answers, and works meanwhile.
func (h *helper) restoreLane() error {
	if h.setup.Keep {
		return nil
	}
	if err := errors.Join(h.stdout.renew(h.began), h.stderr.renew(h.began)); err != nil {
		return err
	}
	f := &h.folder
	if f.watch.broken || f.restore(&h.changes) != nil {
		if err := f.rebuild(h.setup.Given); err != nil {
			return err
		}
	}
	return nil
}

// restore reduces the lane's folder to the given files. It requires that the lane's own
// folders are unchanged: otherwise a name might lead elsewhere.
func (f *folder) restore(c *changes) error {
	for _, name := range c.names {
		err := f.at(name).unlink()
		if err != nil && err != syscall.ENOENT && err != syscall.EISDIR {
			return fail("remove", name, err)
		}
	}
	for _, dir := range c.folders {
		if err := syscall.Rmdir(f.work + "/" + dir); err != nil {
			return fail("remove", dir, err)
		}
	}
	for _, name := range c.names {
		if p := f.given[name]; p != nil && name != f.source {
			if err := f.placeGiven(p.item); err != nil {
				return err
			}
		}
	}
	if err := f.removeSource(); err != nil {
		return err
	}
	return f.emptyOthers()
}

// removeSource removes the source of a case.
func (f *folder) removeSource() error {
	if f.source == "" {
		return nil
	}
	if err := f.at(f.source).unlink(); err != nil && err != syscall.ENOENT {
		return fail("remove", f.source, err)
	}
	delete(f.given, f.source)
	f.source = ""
	if p := f.replaced; p != nil {
		f.replaced = nil
		return f.placeGiven(p.item)
	}
	return nil
}

// emptyOthers empties home and tmp, and removes everything beside the lane's own three
// folders.
func (f *folder) emptyOthers() error {
	if f.watch.spare {
		if err := errors.Join(empty(f.home), empty(f.tmp)); err != nil {
			return err
		}
	}
	if f.watch.root {
		return empty(f.root, "work", "home", "tmp")
	}
	return nil
}
