package lane

import (
	"slices"
	"strconv"
	"syscall"
)

// empty removes everything below dir except the names in keep.
func empty(dir string, keep ...string) error {
	fd, err := openDir(atCwd, dir)
	if err != nil {
		return fail("open", dir, err)
	}
	defer syscall.Close(fd)
	e := emptier{top: fd, keep: keep}
	return fail("empty", dir, e.removeAll(fd))
}

// emptier removes everything below one folder. It does not descend: it first moves a folder in
// a folder to the top. So it needs two descriptors and short names however deep the tree is. A
// case may build one that no path reaches.
type emptier struct {
	top   int      // descriptor of the folder
	keep  []string // names at the top
	moved int      // number of folders moved so far, for their names
}

// removeAll removes everything in a folder. It reads the folder again until it is empty: a
// folder that is moved to the top during a read may be missed.
func (e *emptier) removeAll(fd int) error {
	for {
		found := false
		err := eachEntryAt(fd, func(in entry) error {
			if fd == e.top && slices.Contains(e.keep, in.name) {
				return nil
			}
			found = true
			return e.remove(fd, in)
		})
		if err != nil || !found {
			return err
		}
	}
}

// remove removes one entry. If file flags prevent that, it clears them first.
func (e *emptier) remove(fd int, in entry) error {
	err := e.removeOnce(fd, in)
	if err != syscall.EPERM {
		return err
	}
	loose := clearFlags(fd)
	loose = clearFlags(e.top) || loose
	loose = clearFlagsAt(fd, in.name) || loose
	if !loose {
		return err
	}
	return e.removeOnce(fd, in)
}

func (e *emptier) removeOnce(fd int, in entry) error {
	if !in.dir {
		return syscall.Unlinkat(fd, in.name)
	}
	err := rmdirAt(fd, in.name)
	if err != syscall.ENOTEMPTY && err != syscall.EEXIST {
		return err
	}
	if fd != e.top {
		return e.moveUp(fd, in.name)
	}
	sub, err := openDir(fd, in.name)
	if err != nil {
		return err
	}
	err = e.removeAll(sub)
	syscall.Close(sub)
	if err != nil {
		return err
	}
	return rmdirAt(fd, in.name)
}

// moveUp moves a folder to the top, under a free name.
func (e *emptier) moveUp(fd int, name string) error {
	opened := false
	for {
		e.moved++
		err := syscall.Renameat(fd, name, e.top, "moved."+strconv.Itoa(e.moved))
		switch err {
		case syscall.EEXIST, syscall.ENOTEMPTY, syscall.ENOTDIR:
			continue
		case syscall.EACCES: // moving a folder changes the ".." in it
			if opened {
				return err
			}
			opened = true
			if err := syscall.Fchmodat(fd, name, 0o700, 0); err != nil {
				return err
			}
			continue
		}
		return err
	}
}
