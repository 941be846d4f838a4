package lane

import (
	"errors"
	"syscall"
	"time"

	"muster/regress/lane/fork"
)

// helper is the state of one lane between cases. One thread uses it.
type helper struct {
	setup        *Setup
	answers      answerQueue
	folder       folder
	tree         tree
	memory       memory
	ipc          ipc
	spawner      spawner
	alarm        alarm
	server       fork.Server
	mounts       mounts
	dir          string // the work folder, as cases see it
	outbox       string // as this process sees it; so is the folder
	stdout       streamFile
	stderr       streamFile
	null         path  // of /dev/null
	storedCount  int   // files moved to the outbox so far, for their names
	pendingBytes int64 // left by cases of the present batch
	freeBytes    int64 // on the lane's file system, after the last case
	orphaned     bool  // the parent is gone
	mountStays   bool  // something is mounted over the lane's folder, which may not be touched

	// State of the present case.
	began        time.Time
	timeLimit    time.Time
	changes      changes
	outputLeft   int64    // bytes that the case may still leave
	inlineLeft   int64    // bytes of contents that the answer may still take
	inlineBuffer []byte   // their memory, reused
	files        []Output // reused
}

// prepare makes the lane ready for its first case.
func prepare(s *Setup) (*helper, error) {
	if err := isolateProcess(); err != nil {
		return nil, err
	}
	if err := setLimits(s.Limits); err != nil {
		return nil, err
	}
	h := &helper{setup: s, outbox: s.Outbox, folder: newFolder(s.Root), tree: tree{pids: s.PIDNamespace}}
	dir := h.folder.work // as cases see it
	if s.Canonical != "" {
		if err := h.moveIn(); err != nil {
			return nil, err
		}
		dir = s.Canonical + "/work"
	}
	if err := h.folder.rebuild(s.Given); err != nil {
		return nil, err
	}
	if s.NoNetwork {
		if err := raiseLoopback(); err != nil {
			return nil, err
		}
	}
	setPIDMax(s.PIDNamespace, s.ProcessesMax)
	h.ipc.unshare(s.PIDNamespace)
	if err := dropCapabilities(); err != nil {
		return nil, err
	}
	h.mounts.watch(s)
	h.tree.ownProc = ownProc()
	if err := h.spawner.prepare(s.Env, dir); err != nil {
		return nil, fail("use", "the environment", err)
	}
	h.tree.server, h.dir = &h.server, dir
	h.alarm.setUp()
	h.spawner.noPIDFD = h.alarm.works
	return h, h.openStreams()
}

// moveIn sets up the mounts that cases see. This process stays in the run's folder,
// and uses the lane and the outbox from there, where files can be moved from one to the other.
func (h *helper) moveIn() error {
	s, run := h.setup, folderOf(h.setup.Outbox)
	if err := syscall.Chdir(run); err != nil {
		return fail("enter", run, err)
	}
	h.outbox = relativeTo(run, s.Outbox)
	own := slashTmp{dir: h.outbox + "/tmp"}
	if err := own.cover(s); err != nil {
		return err
	}
	root := s.Canonical // of a folder that the user keeps
	if folderOf(s.Root) == run {
		root = relativeTo(run, s.Root)
	}
	h.folder = newFolder(root)
	h.folder.slash = own
	if s.PIDNamespace {
		// The kernel refuses this where parts of the outer /proc are masked, as in most
		// containers. That matters only to tools that look themselves up there.
		_ = syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	}
	hideFolder(run)
	return nil
}

func (h *helper) openStreams() error {
	h.null.set("/dev/null")
	return errors.Join(h.stdout.set(h.outbox, "/stdout"), h.stderr.set(h.outbox, "/stderr"))
}

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
			if fd, err := openDir(atCwd, dir, 0o700); err == nil {
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
		h.server.Stop() // it is in the folder that goes
		if err := f.rebuild(h.setup.Given); err != nil {
			return err
		}
	}
	return nil
}

// restore reduces the lane's folder to the given files. It requires that the lane's own
// folders are unchanged: otherwise a name might lead elsewhere.
func (f *folder) restore(c *changes) error {
	if f.watch.needsWalk { // a walk misses files that a case made and removed
		for name := range f.dirs {
			f.markStale(join(name, "any"))
		}
	}
	for _, name := range c.names {
		err := f.at(name).unlink()
		if err != nil && err != syscall.ENOENT && err != syscall.EISDIR {
			return fail("remove", name, err)
		}
		f.markStale(name)
	}
	for _, dir := range c.folders {
		if err := syscall.Rmdir(f.work + "/" + dir); err != nil {
			return fail("remove", dir, err)
		}
		f.markStale(dir)
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
	f.markStale(f.source)
	delete(f.given, f.source)
	f.source = ""
	if p := f.replaced; p != nil {
		f.replaced = nil
		return f.placeGiven(p.item)
	}
	return nil
}

// emptyOthers empties home, tmp and the lane's own /tmp, and removes everything beside the lane's own three
// folders.
func (f *folder) emptyOthers() error {
	if f.watch.spare {
		if err := errors.Join(empty(f.home), empty(f.tmp)); err != nil {
			return err
		}
	}
	if f.watch.slash {
		if err := f.slash.restore(); err != nil {
			return err
		}
	}
	if f.watch.root {
		return empty(f.root, "work", "home", "tmp")
	}
	return nil
}

// freeBytesMin is the free space, in bytes, below which a lane's file system counts as full:
// the outputs of the case may then be cut short.
const freeBytesMin = 64 << 10

// checkFreeSpace returns an error if the file system is full. The case then failed because of
// the machine, not the tool.
func (h *helper) checkFreeSpace() error {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(h.stdout.fd, &st); err != nil {
		return fail("look at", h.setup.Outbox, err)
	}
	h.freeBytes = int64(st.Bavail) * int64(st.Bsize)
	if h.freeBytes < freeBytesMin || st.Files > 0 && st.Ffree < 2 {
		return fail("use", h.setup.Root, syscall.ENOSPC)
	}
	return nil
}
