package lane

import (
	"errors"
	"syscall"
	"time"
	"unsafe"

	"muster/regress/lane/scan"
)

// placedFile is a file that the lane put into the work folder.
type placedFile struct {
	item Item
	// The inode and the time when it was placed. Both are zero for the source of a case, which
	// is compared whenever in doubt, and removed after the case.
	ino   uint64
	ctime int64 // ns
}

// sourceTime is the time of every file that a lane places, and of the folders around it. Tools such as gzip write the
// time of their source into their output. Cases get the same time as SOURCE_DATE_EPOCH (exec.Environment has the same
// number), unless --env sets another. What a case changes has the real time.
const sourceTime = 1577836800 // s

// sourceAccess is the time of the last access. It is in the future: with relatime, the usual option of mounts, a read
// moves a time of access that is in the past.
const sourceAccess = 2145916800 // s, 31 December 2037

var sourceTimes = [2]syscall.Timespec{{Sec: sourceAccess}, {Sec: sourceTime}}

// placedFolder is the work folder, or a folder that the lane made in it.
type placedFolder struct {
	name    string // below the work folder
	watch   int32
	isStale bool // names in it came or went, which moved its time
}

// folder is the lane's folder: work, home and tmp below root. Between cases work holds only
// the given files, and the others are empty.
type folder struct {
	root, work, home, tmp string
	slash                 slashTmp

	given      map[string]*placedFile   // by name; during a case also the source
	source     string                   // name of the case's source; "" between cases, or if the source is a given file
	replaced   *placedFile              // the given file that the source replaces, or nil
	dirs       map[string]*placedFolder // folders below work that belong there now, and work itself as ""
	stale      []*placedFolder
	sourceDirs []string // those of dirs that only the last source needed, outer ones first
	watch      *watcher

	// Memory that is reused.
	copyBuffer []byte
	path       path
	sourceFile placedFile
}

// workName is the name of the work folder in the lane's folder.
const workName = "work"

func newFolder(root string) folder {
	return folder{
		root: root, work: root + "/" + workName, home: root + "/home", tmp: root + "/tmp",
		given: map[string]*placedFile{}, copyBuffer: make([]byte, 32<<10),
	}
}

// at returns the path of a file in the work folder, which is valid until at is called again.
func (f *folder) at(name string) *path { return f.path.set(f.work, "/", name) }

// rebuild makes the folder anew, whatever it contains.
func (f *folder) rebuild(given []Item) error {
	if f.watch != nil {
		f.watch.close()
	}
	if err := errors.Join(empty(f.root), resetFolder(f.root, 0o755)); err != nil {
		return err
	}
	if f.slash.dir != "" {
		if err := f.slash.restore(); err != nil {
			return err
		}
	}
	f.dirs, f.given = map[string]*placedFolder{"": {}}, make(map[string]*placedFile, len(given))
	f.stale, f.source, f.replaced, f.sourceDirs = nil, "", nil, nil
	if err := f.makeOwnFolders(); err != nil {
		return err
	}
	for _, it := range given {
		if err := f.placeGiven(it); err != nil {
			return err
		}
	}
	f.sourceDirs = nil
	return f.watch.discardEvents()
}

// resetFolder restores a folder's mode, and removes attributes such as access lists.
func resetFolder(dir string, mode uint32) error {
	if err := syscall.Chmod(dir, mode); err != nil {
		return fail("open up", dir, err)
	}
	var names [4096]byte
	n, err := syscall.Listxattr(dir, names[:])
	if err != nil || n == 0 {
		return nil // no attributes, or a file system without any
	}
	for name := range scan.Split(names[:n-1], 0) {
		_ = syscall.Removexattr(dir, string(name)) // those of a security module stay
	}
	return nil
}

// makeOwnFolders makes the lane's own folders and watches them.
func (f *folder) makeOwnFolders() (err error) {
	f.watch = newWatcher()
	if _, err := f.watch.addWatch(f.path.set(f.root), watch{area: root}); err != nil {
		return err
	}
	for _, own := range []struct {
		dir  string
		area area
	}{{f.work, work}, {f.home, spare}, {f.tmp, spare}} {
		if err := syscall.Mkdir(own.dir, 0o755); err != nil {
			return fail("make", own.dir, err)
		}
		if _, err := f.watch.addWatch(f.path.set(own.dir), watch{area: own.area}); err != nil {
			return err
		}
	}
	if f.slash.dir != "" {
		_, err = f.watch.addWatch(f.path.set(f.slash.dir), watch{area: slash})
	}
	return err
}

// placeSource puts the source of a case into the work folder, unless it is one of the given
// files unchanged. It discards the events that this raised.
func (f *folder) placeSource(it Item) error {
	if err := f.dropSourceDirs(it.Name); err != nil {
		return err
	}
	if p := f.given[it.Name]; p == nil || it.Literal {
		if p != nil {
			if err := f.at(it.Name).unlink(); err != nil {
				return fail("remove", it.Name, err)
			}
			f.replaced = p
		}
		f.source = it.Name
		f.sourceFile = placedFile{item: it}
		f.given[it.Name] = &f.sourceFile
		if _, err := f.placeFile(it, false); err != nil {
			return err
		}
	}
	return errors.Join(f.settleTimes(), f.watch.discardEvents())
}

// markStale notes that a name in a folder of the lane came or went.
func (f *folder) markStale(name string) {
	if d := f.dirs[name[:max(0, scan.LastIndex(name, '/'))]]; d != nil && !d.isStale {
		d.isStale = true
		f.stale = append(f.stale, d)
	}
}

// settleTimes gives the stale folders the time of sources.
func (f *folder) settleTimes() error {
	for _, d := range f.stale {
		if !d.isStale {
			continue // it is gone
		}
		d.isStale = false
		path := f.at(d.name)
		if err := path.setTimes(); err != nil {
			return path.fail("set the time of", err)
		}
	}
	f.stale = f.stale[:0]
	return nil
}

// dropSourceDirs removes the folders of the last source that this one does not need.
// Neighbours mostly share theirs, and a folder with its watch costs 15 µs.
func (f *folder) dropSourceDirs(name string) error {
	for len(f.sourceDirs) > 0 {
		dir := f.sourceDirs[len(f.sourceDirs)-1]
		if scan.HasPrefix(name, dir) && name[len(dir)] == '/' {
			return nil
		}
		f.markStale(dir)
		delete(f.watch.watches, f.dirs[dir].watch)
		f.dirs[dir].isStale = false
		delete(f.dirs, dir)
		f.sourceDirs = f.sourceDirs[:len(f.sourceDirs)-1]
		if err := f.at(dir).rmdir(); err != nil {
			return fail("remove", dir, err)
		}
	}
	return nil
}

// placeGiven places a file that every case gets.
func (f *folder) placeGiven(it Item) error {
	st, err := f.placeFile(it, true)
	f.given[it.Name] = &placedFile{it, st.Ino, st.Ctim.Nano()}
	return err
}

// placeFile places one file, and makes the folders above it. It returns the file's state if
// withStat is set, and for a link.
func (f *folder) placeFile(it Item, withStat bool) (st syscall.Stat_t, err error) {
	if err := f.makeParents(it.Name); err != nil {
		return st, err
	}
	f.markStale(it.Name)
	if it.Target == "" {
		return st, f.writeFile(it, withStat, &st)
	}
	path := f.at(it.Name)
	if err := syscall.Symlink(it.Target, path.String()); err != nil {
		return st, path.fail("link", err)
	}
	if err := path.setTimes(); err != nil {
		return st, path.fail("set the time of", err)
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
		dir = string([]byte(dir))
		wd, err := f.watch.addWatch(path, watch{work, dir})
		if err != nil {
			return err
		}
		f.markStale(dir)
		f.dirs[dir] = &placedFolder{name: dir, watch: wd}
		f.sourceDirs = append(f.sourceDirs, dir)
	}
	return nil
}

// writeFile makes a new file. A file of that name may have other names, so it must not be
// overwritten.
func (f *folder) writeFile(it Item, withStat bool, st *syscall.Stat_t) error {
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
	if err := f.copySource(out, it); err != nil {
		return err
	}
	if err := setTimes(uintptr(out), nil, 0); err != nil {
		return path.fail("set the time of", err)
	}
	if !withStat {
		return nil
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
		b := f.copyBuffer[:min(it.Size-at, int64(len(f.copyBuffer)))]
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

// clockLagMax is more than the lag of the clock behind ctime: up to 10 ms before Linux 6.13.
const clockLagMax = 20 * time.Millisecond

// mayBeTouched reports whether a given file may have changed since it was placed. Writing,
// linking and changing the mode all move ctime, which nobody can set back. If the file was
// placed just before the case, ctime may have moved too little to show.
func (f *folder) mayBeTouched(p *placedFile, began time.Time) bool {
	var st syscall.Stat_t
	path := f.at(p.item.Name)
	if p.ino == 0 || path.lstat(&st) != nil || st.Ino != p.ino || st.Ctim.Nano() != p.ctime {
		return true
	}
	if p.ctime < began.Add(-clockLagMax).UnixNano() {
		return false
	}
	same, err := path.sameAsGiven(&st, p.item)
	return err != nil || !same
}

// path is a path as the kernel takes it, in memory that is reused. A helper grows by the
// garbage of its cases (see memory).
type path struct{ bytes []byte }

// set joins parts to the path. It returns p, for use in a call.
func (p *path) set(parts ...string) *path {
	p.bytes = p.bytes[:0]
	for _, s := range parts {
		p.bytes = append(p.bytes, s...)
	}
	p.bytes = append(p.bytes, 0)
	return p
}

// String returns a copy, for messages.
func (p *path) String() string { return string(p.bytes[:len(p.bytes)-1]) }

// fail returns an error with the operation and the path, or nil.
func (p *path) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return fail(op, p.String(), err)
}

func (p *path) open(flags int, mode uint32) (int, error) {
	for {
		fd, _, e := syscall.RawSyscall6(syscall.SYS_OPENAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))),
			uintptr(flags|syscall.O_CLOEXEC), uintptr(mode), 0, 0)
		switch e {
		case 0:
			return int(fd), nil
		case syscall.EINTR:
			continue
		}
		return -1, e
	}
}

// setTimes gives a file or folder the time of sources. It does not follow a link.
func (p *path) setTimes() error {
	const noFollow = 0x100 // AT_SYMLINK_NOFOLLOW
	return setTimes(cwd(), unsafe.SliceData(p.bytes), noFollow)
}

// setTimes gives the time of sources to a file: the open one, if path is nil.
func setTimes(at uintptr, path *byte, flags uintptr) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_UTIMENSAT, at, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&sourceTimes)), flags, 0, 0)
	return asError(e)
}

func (p *path) unlink() error           { return p.call(syscall.SYS_UNLINKAT, 0) }
func (p *path) rmdir() error            { return p.call(syscall.SYS_UNLINKAT, removeDir) }
func (p *path) mkdir(mode uint32) error { return p.call(syscall.SYS_MKDIRAT, uintptr(mode)) }
func (p *path) chmod(mode uint32) error { return p.call(syscall.SYS_FCHMODAT, uintptr(mode)) }

// call makes a system call that takes a folder, a path and a number.
func (p *path) call(number, how uintptr) error {
	_, _, e := syscall.RawSyscall(number, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), how)
	return asError(e)
}

func (p *path) watch(inotify int, events uint32) (wd int32, err error) {
	n, _, e := syscall.RawSyscall(syscall.SYS_INOTIFY_ADD_WATCH, uintptr(inotify), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), uintptr(events))
	return int32(n), asError(e)
}

// atCwd makes a system call resolve paths from the working folder.
const atCwd = -0x64

func cwd() uintptr {
	at := atCwd
	return uintptr(at)
}
