package lane

import (
	"errors"
	"syscall"
)

// settle makes the lane ready for the next case. After the last of a batch the parent
// has all answers by then, and works meanwhile.
func (h *helper) settle() error {
	if h.setup.Keep {
		return nil
	}
	if err := errors.Join(h.stdout.renew(h.began), h.stderr.renew(h.began)); err != nil {
		return err
	}
	f := &h.folder
	if f.watch.broken || f.restore(&h.changes) != nil {
		if err := f.lay(h.setup.Given); err != nil {
			return err
		}
	}
	return nil
}

// restore brings the lane's folder back to the given files. It is right only
// while the lane's own folders are what they were: otherwise a name might lead
// elsewhere.
func (f *folder) restore(c *changes) error {
	for _, name := range c.names {
		err := f.at(name).unlink()
		if err != nil && err != syscall.ENOENT && err != syscall.EISDIR {
			return fail("remove", name, err)
		}
	}
	for _, dir := range c.strange {
		if err := syscall.Rmdir(f.work + "/" + dir); err != nil {
			return fail("remove", dir, err)
		}
	}
	for _, name := range c.names {
		if p := f.given[name]; p != nil && name != f.source {
			if err := f.give(p.item); err != nil {
				return err
			}
		}
	}
	if err := f.removeSource(); err != nil {
		return err
	}
	return f.tidy()
}

// removeSource takes the source of a case away again.
func (f *folder) removeSource() error {
	if f.source == "" {
		return nil
	}
	if err := f.at(f.source).unlink(); err != nil && err != syscall.ENOENT {
		return fail("remove", f.source, err)
	}
	delete(f.given, f.source)
	f.source = ""
	if p := f.hidden; p != nil {
		f.hidden = nil
		return f.give(p.item)
	}
	return nil
}

// tidy empties home, tmp, and the folder above but for the lane's own three.
func (f *folder) tidy() error {
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
