package lane

import (
	"errors"
	"slices"
	"strings"
	"syscall"
)

// placed is a file that the lane put into the work folder, and what it looked
// like then.
type placed struct {
	item  Item
	ino   uint64
	ctime syscall.Timespec
}

// folder is the lane's folder: work, home and tmp below root. Between cases
// work holds the given files alone and the others are empty.
type folder struct {
	root, work, outbox string
	given              map[string]*placed // by name; during a case the source too
	source             string             // the name of the case's source, "" between cases or when it is given to all
	dirs               map[string]bool    // folders below work that belong there now, "" excepted
	lasting            int                // how many of dirs the given files need
	watch              *watcher
	copied             []byte // buffer for contents
}

// lay makes the folder anew, whatever is there.
func (f *folder) lay(given []Item) error {
	if f.watch != nil {
		f.watch.close()
	}
	if err := empty(f.root); err != nil {
		return err
	}
	var err error
	if f.watch, err = newWatcher(); err != nil {
		return err
	}
	f.dirs = map[string]bool{}
	clear(f.given)
	f.source = ""
	for _, d := range []struct {
		dir string
		at  watch
	}{{f.root, watch{area: root}}, {f.work, watch{area: work}}, {f.root + "/home", watch{area: spare}}, {f.root + "/tmp", watch{area: spare}}} {
		if err := syscall.Mkdir(d.dir, 0o755); err != nil && err != syscall.EEXIST {
			return fail("make", d.dir, err)
		}
		if err := f.watch.add(d.dir, d.at); err != nil {
			return err
		}
	}
	for _, it := range given {
		if err := f.place(it); err != nil {
			return err
		}
	}
	f.lasting = len(f.dirs)
	return f.watch.forget()
}

// placeSource puts the source of a case into the work folder, if it is not one
// of the given files, and forgets the events that this raised.
func (f *folder) placeSource(it Item) error {
	if f.given[it.Name] == nil {
		if err := f.place(it); err != nil {
			return err
		}
		f.source = it.Name
	}
	return f.watch.forget()
}

// place puts one file where it belongs, with the folders above it.
func (f *folder) place(it Item) error {
	if err := f.makeParents(it.Name); err != nil {
		return err
	}
	path := f.work + "/" + it.Name
	if it.Target != "" {
		if err := syscall.Symlink(it.Target, path); err != nil {
			return fail("link", path, err)
		}
	} else if err := f.write(path, it); err != nil {
		return err
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return fail("stat", path, err)
	}
	f.given[it.Name] = &placed{it, st.Ino, st.Ctim}
	return nil
}

func (f *folder) makeParents(name string) error {
	for i := range len(name) {
		if name[i] != '/' || f.dirs[name[:i]] {
			continue
		}
		dir := f.work + "/" + name[:i]
		if err := syscall.Mkdir(dir, 0o755); err != nil && err != syscall.EEXIST {
			return fail("make", dir, err)
		}
		if err := f.watch.add(dir, watch{work, name[:i]}); err != nil {
			return err
		}
		f.dirs[name[:i]] = true
	}
	return nil
}

func (f *folder) write(path string, it Item) error {
	mode := uint32(0o644)
	if it.Exec {
		mode = 0o755
	}
	out, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, mode)
	if err != nil {
		return fail("write", path, err)
	}
	err = f.copyTo(out, it)
	if e := syscall.Close(out); err == nil {
		err = e
	}
	return fail("write", path, err)
}

var errCorpusChanged = errors.New("the corpus changed while it was in use")

func (f *folder) copyTo(out int, it Item) error {
	in, at, err := source(it)
	if err != nil {
		return err
	}
	if in != CorpusFD {
		defer syscall.Close(in)
	}
	if f.copied == nil {
		f.copied = make([]byte, 64<<10)
	}
	for left := it.Size; left > 0; {
		n, err := syscall.Pread(in, f.copied[:min(left, int64(len(f.copied)))], at)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return errCorpusChanged
		}
		if err := writeFull(out, f.copied[:n]); err != nil {
			return err
		}
		at += int64(n)
		left -= int64(n)
	}
	return nil
}

// source returns the descriptor that holds an item's content, and where it
// starts there.
func source(it Item) (fd int, offset int64, err error) {
	if it.Path == "" {
		return CorpusFD, it.Offset, nil
	}
	fd, err = syscall.Openat(CorpusFD, it.Path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, fail("read", it.Path, err)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Size != it.Size {
		syscall.Close(fd)
		return 0, 0, fail("read", it.Path, errCorpusChanged)
	}
	return fd, 0, nil
}

func writeFull(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// removeSource takes the source of a case away again, with the folders that
// only it needed.
func (f *folder) removeSource() error {
	name := f.source
	if name == "" {
		return nil
	}
	f.source = ""
	delete(f.given, name)
	if err := syscall.Unlink(f.work + "/" + name); err != nil && err != syscall.ENOENT {
		return fail("remove", name, err)
	}
	for len(f.dirs) > f.lasting {
		name = name[:strings.LastIndexByte(name, '/')]
		delete(f.dirs, name)
		if err := syscall.Rmdir(f.work + "/" + name); err != nil {
			return fail("remove", name, err)
		}
	}
	return nil
}

// sound reports whether every folder that belongs into the work folder is there
// as it was made, and watched.
func (f *folder) sound() bool {
	if f.watch.broken || len(f.watch.watches) != len(f.dirs)+lanesOwn {
		return false
	}
	for dir := range f.dirs {
		if !asMade(f.work + "/" + dir) {
			return false
		}
	}
	return asMade(f.work) && asMade(f.root+"/home") && asMade(f.root+"/tmp")
}

func asMade(dir string) bool {
	var st syscall.Stat_t
	err := syscall.Lstat(dir, &st)
	return err == nil && st.Mode&(syscall.S_IFMT|0o777) == syscall.S_IFDIR|0o755
}

// lanesOwn is how many folders a lane has itself: root, work, home and tmp.
const lanesOwn = 4

// tidy brings home, tmp and the folder above back to what they were.
func (f *folder) tidy() error {
	if f.watch.spare {
		for _, dir := range []string{f.root + "/home", f.root + "/tmp"} {
			if err := empty(dir); err != nil {
				return err
			}
			if err := syscall.Chmod(dir, 0o755); err != nil {
				return fail("restore", dir, err)
			}
		}
	}
	if !f.watch.root {
		return nil
	}
	entries, err := list(f.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains([]string{"work", "home", "tmp"}, e.name) {
			if err := remove(f.root, e); err != nil {
				return err
			}
		}
	}
	return nil
}
