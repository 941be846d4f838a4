package lane

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"time"
)

// placed is a file that the lane put into the work folder.
type placed struct {
	item Item
	// What it looked like then; zero for the source of a case, which is
	// compared whenever there is doubt, and never stays.
	ino   uint64
	ctime int64 // ns
}

// folder is the lane's folder: work, home and tmp below root. Between cases
// work holds the given files alone and the others are empty.
type folder struct {
	root, work, home, tmp string

	given  map[string]*placed // by name; during a case the source too
	source string             // name of the case's source, "" between cases or when it is given to all
	hidden *placed            // the given file that has made room for it; nil for none
	dirs   map[string]int32   // folders below work that belong there now → their watches
	extra  []string           // those of them that only the last source needed, outer ones first
	watch  *watcher

	// Used again.
	copied []byte // buffer for contents
	path   path
	one    placed // the source
}

func newFolder(root string) folder {
	return folder{
		root: root, work: root + "/work", home: root + "/home", tmp: root + "/tmp",
		given: map[string]*placed{}, copied: make([]byte, 32<<10),
	}
}

// at is the path of a file in the work folder, until at is called again.
func (f *folder) at(name string) *path { return f.path.set(f.work, "/", name) }

// lay makes the folder anew, whatever is there.
func (f *folder) lay(given []Item) error {
	if f.watch != nil {
		f.watch.close()
	}
	if err := errors.Join(empty(f.root), plainFolder(f.root)); err != nil {
		return err
	}
	f.dirs, f.given = map[string]int32{}, make(map[string]*placed, len(given))
	f.source, f.hidden, f.extra = "", nil, nil
	if err := f.watchOwn(); err != nil {
		return err
	}
	for _, it := range given {
		if err := f.give(it); err != nil {
			return err
		}
	}
	f.extra = nil
	return f.watch.forget()
}

// plainFolder gives a folder the mode it was made with, and no attributes such
// as access lists.
func plainFolder(dir string) error {
	err := syscall.Chmod(dir, 0o755)
	if err == syscall.EPERM && loosenAt(atCwd, dir) {
		err = syscall.Chmod(dir, 0o755)
	}
	if err != nil {
		return fail("open up", dir, err)
	}
	var names [4096]byte
	n, err := syscall.Listxattr(dir, names[:])
	if err != nil || n == 0 {
		return nil // none, or a file system without any
	}
	for name := range bytes.SplitSeq(names[:n-1], []byte{0}) {
		_ = syscall.Removexattr(dir, string(name)) // those of a security module stay
	}
	return nil
}

// watchOwn makes the lane's own folders and watches them.
func (f *folder) watchOwn() (err error) {
	f.watch = newWatcher()
	if _, err := f.watch.add(f.path.set(f.root), watch{area: root}); err != nil {
		return err
	}
	for _, own := range []struct {
		dir  string
		area area
	}{{f.work, work}, {f.home, spare}, {f.tmp, spare}} {
		if err := syscall.Mkdir(own.dir, 0o755); err != nil {
			return fail("make", own.dir, err)
		}
		if _, err := f.watch.add(f.path.set(own.dir), watch{area: own.area}); err != nil {
			return err
		}
	}
	return nil
}

// placeSource puts the source of a case into the work folder, if it is not one
// of the given files as it is, and forgets the events that this raised.
func (f *folder) placeSource(it Item) error {
	if err := f.dropExtra(it.Name); err != nil {
		return err
	}
	if p := f.given[it.Name]; p == nil || it.Own {
		if p != nil {
			if err := f.at(it.Name).unlink(); err != nil {
				return fail("remove", it.Name, err)
			}
			f.hidden = p
		}
		f.source = it.Name
		f.one = placed{item: it}
		f.given[it.Name] = &f.one
		if _, err := f.place(it, false); err != nil {
			return err
		}
	}
	return f.watch.forget()
}

// dropExtra removes the folders of the last source that this one does not need.
// Neighbours mostly share theirs, and a folder with its watch costs 15 µs.
func (f *folder) dropExtra(name string) error {
	for len(f.extra) > 0 {
		dir := f.extra[len(f.extra)-1]
		if strings.HasPrefix(name, dir) && name[len(dir)] == '/' {
			return nil
		}
		delete(f.watch.watches, f.dirs[dir])
		delete(f.dirs, dir)
		f.extra = f.extra[:len(f.extra)-1]
		if err := f.at(dir).rmdir(); err != nil {
			return fail("remove", dir, err)
		}
	}
	return nil
}

// give places a file for every case.
func (f *folder) give(it Item) error {
	st, err := f.place(it, true)
	f.given[it.Name] = &placed{it, st.Ino, st.Ctim.Nano()}
	return err
}

// place puts one file where it belongs, with the folders above it, and if asked
// tells what it looks like there.
func (f *folder) place(it Item, tell bool) (st syscall.Stat_t, err error) {
	if err := f.makeParents(it.Name); err != nil {
		return st, err
	}
	if it.Target == "" {
		return st, f.write(it, tell, &st)
	}
	path := f.at(it.Name)
	if err := syscall.Symlink(it.Target, path.String()); err != nil {
		return st, path.fail("link", err)
	}
	return st, path.fail("look at", path.lstat(&st))
}

func (f *folder) makeParents(name string) error {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		dir := name[:i]
		if _, have := f.dirs[dir]; have {
			continue
		}
		path := f.at(dir)
		if err := path.mkdir(0o755); err != nil {
			return path.fail("make", err)
		}
		dir = strings.Clone(dir)
		wd, err := f.watch.add(path, watch{work, dir})
		if err != nil {
			return err
		}
		f.dirs[dir] = wd
		f.extra = append(f.extra, dir)
	}
	return nil
}

// write makes a new file: what has that name elsewhere too must stay as it is.
func (f *folder) write(it Item, tell bool, st *syscall.Stat_t) error {
	mode := uint32(0o644)
	if it.Exec {
		mode = 0o755
	}
	path := f.at(it.Name)
	out, err := path.open(syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return path.fail("write", err)
	}
	defer closeFD(out)
	if err := f.copySource(out, it); err != nil || !tell {
		return err
	}
	return path.fail("look at", syscall.Fstat(out, st))
}

func (f *folder) copySource(out int, it Item) error {
	c, err := openSource(it)
	if err != nil {
		return err
	}
	defer c.close()
	for at := int64(0); at < it.Size; {
		b := f.copied[:min(it.Size-at, int64(len(f.copied)))]
		if err := c.read(b, at); err != nil {
			return err
		}
		if err := writeFull(out, b); err != nil {
			return fail("write", it.Name, err)
		}
		at += int64(len(b))
	}
	return nil
}

// jiffy is more than what the clock behind ctime may lag: up to 10 ms before
// Linux 6.13.
const jiffy = 20 * time.Millisecond

// touched reports whether a given file is perhaps no longer as it was placed.
// Writing, linking and changing the mode all move ctime, which nobody can set
// back. In one that was placed just before the case it may have moved too
// little to show.
func (f *folder) touched(p *placed, began time.Time) bool {
	var st syscall.Stat_t
	path := f.at(p.item.Name)
	if p.ino == 0 || path.lstat(&st) != nil || st.Ino != p.ino || st.Ctim.Nano() != p.ctime {
		return true
	}
	if p.ctime < began.Add(-jiffy).UnixNano() {
		return false
	}
	same, err := path.sameAsGiven(&st, p.item)
	return err != nil || !same
}
