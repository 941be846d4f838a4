package lane

import (
	"syscall"
	"unsafe"
)

// watched is everything that can tell that a file below a folder is new,
// changed or gone. IN_MODIFY is there for truncation, IN_CLOSE_WRITE for
// writes through a mapping, which raise no IN_MODIFY.
const watched = syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MODIFY | syscall.IN_CLOSE_WRITE |
	syscall.IN_ATTRIB | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO |
	syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_ONLYDIR | syscall.IN_DONT_FOLLOW

// Events about a watched folder itself, or about the queue: which names changed
// can no longer be told from events.
const unclear = syscall.IN_ISDIR | syscall.IN_Q_OVERFLOW | syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_UNMOUNT

// area says which part of the lane's folder a watch belongs to.
type area uint8

const (
	work  area = iota
	spare      // home and tmp
	root       // the folder that holds the three
)

type watch struct {
	area area
	path string // below the work folder, "" for the work folder itself
}

// watcher collects what inotify tells: one watch per folder, one read per
// case, 5 to 6 µs with 9 folders and 400 headers against 690 µs for a walk.
type watcher struct {
	fd      int
	watches map[int32]watch
	buf     []byte

	names  map[string]struct{} // files in the work folder that had an event
	full   bool                // only a walk of the work folder can tell
	spare  bool                // something happened in home or tmp
	root   bool                // something happened beside the three folders
	broken bool                // one of the lane's own folders went away
}

func newWatcher() (*watcher, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, fail("start", "inotify", err)
	}
	return &watcher{fd: fd, watches: map[int32]watch{}, names: map[string]struct{}{}, buf: make([]byte, 16<<10)}, nil
}

func (w *watcher) close() { syscall.Close(w.fd) }

func (w *watcher) add(dir string, at watch) error {
	wd, err := syscall.InotifyAddWatch(w.fd, dir, watched)
	if err != nil {
		return fail("watch", dir, err)
	}
	w.watches[int32(wd)] = at
	return nil
}

// forget drops what was noted and what is queued: it was our own doing.
func (w *watcher) forget() error {
	err := w.read()
	clear(w.names)
	w.full, w.spare, w.root, w.broken = false, false, false, false
	return err
}

// read notes everything that is queued.
func (w *watcher) read() error {
	for {
		n, err := syscall.Read(w.fd, w.buf)
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
			w.note(e, name)
			at += syscall.SizeofInotifyEvent + int(e.Len)
		}
	}
}

func (w *watcher) note(e *syscall.InotifyEvent, padded []byte) {
	if e.Mask&syscall.IN_Q_OVERFLOW != 0 {
		w.full, w.spare, w.root = true, true, true
		return
	}
	at, known := w.watches[e.Wd]
	if !known {
		return
	}
	if e.Mask&syscall.IN_IGNORED != 0 {
		delete(w.watches, e.Wd)
		return
	}
	own := at.path == "" && e.Mask&(syscall.IN_DELETE_SELF|syscall.IN_MOVE_SELF|syscall.IN_UNMOUNT) != 0
	w.broken = w.broken || own
	switch {
	case at.area == spare:
		w.spare = true
	case at.area == root:
		w.root = true
	case e.Mask&unclear != 0 || len(padded) == 0:
		w.full = true
	default:
		w.names[join(at.path, cstring(padded))] = struct{}{}
	}
}

func cstring(padded []byte) string {
	for i, c := range padded {
		if c == 0 {
			return string(padded[:i])
		}
	}
	return string(padded)
}

// join puts a name below a folder; "" is the folder that names are relative to.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
