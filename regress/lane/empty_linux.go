package lane

import (
	"slices"
	"strconv"
	"syscall"
)

// empty removes everything below dir, but for what it has under the names in
// keep.
func empty(dir string, keep ...string) error {
	fd, err := openDir(atCwd, dir)
	if err != nil {
		return fail("open", dir, err)
	}
	defer syscall.Close(fd)
	e := emptying{top: fd, keep: keep}
	return fail("empty", dir, e.removeAll(fd))
}

// emptying removes what is below one folder. It does not descend: a folder in
// a folder is moved to the top first. So it takes two descriptors and short
// names however deep the tree is, and a case may build one that no path
// reaches.
type emptying struct {
	top   int
	keep  []string // names at the top
	moved int      // folders so far, for their names
}

// removeAll removes everything in a folder. What was moved to the top while
// that was read may have been missed, hence the rounds.
func (e *emptying) removeAll(fd int) error {
	for {
		found := false
		err := eachAt(fd, func(in entry) error {
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

// remove removes one entry, and where flags are in the way those first.
func (e *emptying) remove(fd int, in entry) error {
	err := e.removeOnce(fd, in)
	if err != syscall.EPERM {
		return err
	}
	loose := loosen(fd)
	loose = loosen(e.top) || loose
	loose = loosenAt(fd, in.name) || loose
	if !loose {
		return err
	}
	return e.removeOnce(fd, in)
}

func (e *emptying) removeOnce(fd int, in entry) error {
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

// moveUp moves a folder to the top, under a name that is free there.
func (e *emptying) moveUp(fd int, name string) error {
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
