package lane

import (
	"syscall"
	"unsafe"
)

// watchedEvents are all events that show that a file in a folder is new, changed or gone.
// IN_MODIFY covers truncation. IN_CLOSE_WRITE covers writes through a mapping, which raise no
// IN_MODIFY.
const watchedEvents = syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MODIFY | syscall.IN_CLOSE_WRITE |
	syscall.IN_ATTRIB | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO |
	syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_ONLYDIR | syscall.IN_DONT_FOLLOW

// area is the part of the lane's folder that a watch belongs to.
type area uint8

const (
	work  area = iota
	spare      // home and tmp
	slash      // the lane's own /tmp
	root       // the folder that holds the three
)

type watch struct {
	area area
	path string // below the work folder, "" for the work folder itself
}

// watcher collects the events of inotify: one watch per folder, one read per case. That takes
// 5 to 6 µs with 9 folders and 400 headers. A walk takes 690 µs.
//
// The kernel may grant no inotify: 128 instances per user are usual, and watches are counted
// too. Then the watcher is blind. Anything may have happened, so the folder is walked and made
// anew for every case.
type watcher struct {
	fd            int // -1 = blind
	watches       map[int32]watch
	buf           []byte
	path          []byte // of the present event
	ignoresEvents bool   // events that are read come from the lane itself

	names     map[string]struct{} // files in the work folder that had an event
	needsWalk bool                // only a walk of the work folder can find what is new in it
	inDoubt   bool                // a given file may have been written under a name that is gone
	spare     bool                // something happened in home or tmp
	slash     bool                // something happened in the lane's own /tmp
	root      bool                // something happened beside the three folders
	opened    bool                // the file of watchOpens was opened
	broken    bool                // a folder of the lane is gone, moved or has other attributes, or events were lost
}

// namesKept bounds the names of a map that is reused: a map that held many stays large.
const namesKept = 256

// namesMax bounds the names that are kept of one case. Beyond it a walk finds the files that
// exist. The kernel's own queue holds 16,384 events.
const namesMax = 16 << 10

func newWatcher() *watcher {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		fd = -1
	}
	return &watcher{fd: fd, watches: map[int32]watch{}, names: map[string]struct{}{}, buf: make([]byte, 16<<10)}
}

func (w *watcher) blind() bool { return w.fd < 0 }

func (w *watcher) close() {
	if !w.blind() {
		syscall.Close(w.fd)
	}
	w.fd = -1
}

// addWatch watches a folder from now on.
func (w *watcher) addWatch(dir *path, at watch) (wd int32, err error) {
	if w.blind() {
		return 0, nil
	}
	wd, err = dir.watch(w.fd, watchedEvents)
	if err == syscall.ENOSPC || err == syscall.ENOMEM {
		w.close()
		return 0, nil
	}
	if err != nil {
		return 0, dir.fail("watch", err)
	}
	w.watches[wd] = at
	return wd, nil
}

// watchOpens notes from now on whether a file is opened. It reports whether the kernel grants that.
func (w *watcher) watchOpens(file *path) bool {
	w.opened = false
	if w.blind() {
		return false
	}
	_, err := file.watch(w.fd, syscall.IN_OPEN)
	return err == nil
}

// discardEvents drops the events so far, recorded and queued: they come from the lane itself.
func (w *watcher) discardEvents() error {
	w.ignoresEvents = true
	err := w.read()
	w.ignoresEvents = false
	if len(w.names) > namesKept {
		w.names = map[string]struct{}{}
	}
	clear(w.names)
	w.needsWalk, w.inDoubt, w.spare, w.slash, w.root, w.broken = false, false, false, false, false, false
	return err
}

// eventBytesMax is the size of an event with the longest name.
const eventBytesMax = syscall.SizeofInotifyEvent + 255 + 1

// read records all queued events.
func (w *watcher) read() error {
	if w.blind() {
		w.assumeAnything()
		return nil
	}
	for {
		n, err := read(w.fd, w.buf)
		switch {
		case err == syscall.EAGAIN:
			return nil
		case err == syscall.EINTR:
			continue
		case err != nil:
			return fail("read", "inotify", err)
		}
		for at := 0; at+syscall.SizeofInotifyEvent <= n; {
			e := (*syscall.InotifyEvent)(unsafe.Pointer(&w.buf[at]))
			name := w.buf[at+syscall.SizeofInotifyEvent:][:e.Len]
			w.recordEvent(e, cstring(name))
			at += syscall.SizeofInotifyEvent + int(e.Len)
		}
		if n <= len(w.buf)-eventBytesMax {
			return nil // another event would have been read too
		}
	}
}

// assumeAnything records that anything may have happened.
func (w *watcher) assumeAnything() {
	w.needsWalk, w.inDoubt, w.spare, w.slash, w.root, w.broken, w.opened = true, true, true, true, true, true, true
}

func (w *watcher) recordEvent(e *syscall.InotifyEvent, name []byte) {
	if e.Mask&syscall.IN_Q_OVERFLOW != 0 {
		w.assumeAnything()
		return
	}
	if w.ignoresEvents && e.Mask&syscall.IN_IGNORED == 0 {
		return
	}
	at, known := w.watches[e.Wd]
	if !known { // the file of watchOpens, or a folder that the lane itself has removed
		w.opened = w.opened || e.Mask&syscall.IN_OPEN != 0
		return
	}
	if e.Mask&syscall.IN_IGNORED != 0 {
		delete(w.watches, e.Wd)
	}
	const (
		gone = syscall.IN_DELETE | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO
		come = syscall.IN_CREATE | syscall.IN_MOVED_TO
	)
	switch {
	case len(name) == 0: // the event concerns the folder itself
		w.broken, w.needsWalk, w.inDoubt = true, true, true
	case at.area != work:
		w.spare = w.spare || at.area == spare
		w.slash = w.slash || at.area == slash
		w.root = w.root || at.area == root
		w.inDoubt = w.inDoubt || e.Mask&come != 0
		// A folder that goes while a process is in it, as a fork server is, has no event of its own.
		if at.area == root && e.Mask&gone != 0 && string(name) == workName {
			w.broken, w.needsWalk, w.inDoubt = true, true, true
		}
	case e.Mask&syscall.IN_ISDIR != 0:
		w.needsWalk, w.inDoubt = true, true
	default:
		w.inDoubt = w.inDoubt || e.Mask&gone != 0
		w.recordName(at.path, name)
	}
}

func (w *watcher) recordName(dir string, name []byte) {
	w.path = w.path[:0]
	if dir != "" {
		w.path = append(append(w.path, dir...), '/')
	}
	w.path = append(w.path, name...)
	if _, had := w.names[string(w.path)]; had || w.broken && w.needsWalk && w.inDoubt {
		return // most files have several events; or everything is checked anyway
	}
	w.names[string(w.path)] = struct{}{}
	if len(w.names) > namesMax {
		w.names = map[string]struct{}{}
		w.assumeAnything()
	}
}

// join returns the path of a name below a folder; "" is the folder that names are relative to.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
