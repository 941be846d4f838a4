package lane

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// filesMax bounds how many files one case may leave: more is taken as reaching
// the output limit, since each costs memory in the parent.
const filesMax = 100_000

var errTooMany = errors.New("too many files")

// changes returns the names in the work folder that may be new, changed or
// gone, sorted. After strange deeds only a walk can tell; it also names the
// folders that do not belong there.
func (f *folder) changes() (names, strange []string, err error) {
	if !f.watch.full && !f.linked() {
		for name := range f.watch.names {
			names = append(names, name)
		}
		slices.Sort(names)
		return names, nil, nil
	}
	f.watch.full = true
	for name, p := range f.given {
		if f.touched(name, p) {
			names = append(names, name)
		}
	}
	names, strange, err = f.walk("", names, nil)
	slices.Sort(names)
	return names, strange, err
}

// linked reports whether a new file is a hard link: a write through it raises
// no event at the other name, so that events are not enough.
func (f *folder) linked() bool {
	for name := range f.watch.names {
		var st syscall.Stat_t
		if syscall.Lstat(f.work+"/"+name, &st) == nil && st.Nlink > 1 {
			return true
		}
	}
	return false
}

// touched reports whether a given file is no longer as it was placed. Any
// write, link or change of mode moves ctime, and nobody can set it back.
func (f *folder) touched(name string, p *placed) bool {
	var st syscall.Stat_t
	err := syscall.Lstat(f.work+"/"+name, &st)
	return err != nil || st.Ino != p.ino || st.Ctim != p.ctime
}

// walk adds every file below dir that was not given to names, and every folder
// that does not belong there to strange, inner ones first.
func (f *folder) walk(dir string, names, strange []string) ([]string, []string, error) {
	entries, err := list(strings.TrimSuffix(f.work+"/"+dir, "/"))
	if errors.Is(err, syscall.ENOENT) {
		return names, strange, nil
	}
	for _, e := range entries {
		name := join(dir, e.name)
		switch {
		case !e.dir && f.given[name] == nil:
			names = append(names, name)
		case e.dir:
			if names, strange, err = f.walk(name, names, strange); err != nil {
				return nil, nil, err
			}
			if !f.dirs[name] {
				strange = append(strange, name)
			}
		}
		if len(names)+len(strange) > filesMax {
			return names, strange, errTooMany
		}
	}
	return names, strange, err
}

// left describes what is at name now, or reports false when that is nothing
// that counts: a given file as it was, or neither file nor symlink.
func (f *folder) left(name string) (Left, bool, error) {
	var st syscall.Stat_t
	path := f.work + "/" + name
	was := f.given[name]
	if err := syscall.Lstat(path, &st); err != nil {
		return Left{Name: name, Form: Gone}, was != nil, nil
	}
	l := Left{Name: name, Size: st.Size, Exec: st.Mode&0o100 != 0}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		same, err := f.asGiven(was, path, &l)
		return l, !same, err
	case syscall.S_IFLNK:
		var buf [4096]byte
		n, err := syscall.Readlink(path, buf[:])
		if err != nil {
			return l, false, fail("read link", path, err)
		}
		l.Form, l.Target, l.Exec, l.Size = Symlink, string(buf[:n]), false, int64(n)
		return l, was == nil || was.item.Target != l.Target, nil
	}
	return Left{Name: name, Form: Gone}, was != nil, nil
}

// asGiven reports whether the file at path has the bytes and the executable
// bit of the item that was placed there.
func (f *folder) asGiven(was *placed, path string, l *Left) (bool, error) {
	if was == nil || was.item.Target != "" || was.item.Size != l.Size || was.item.Exec != l.Exec {
		return false, nil
	}
	now, err := openToRead(path)
	if err != nil {
		return false, err
	}
	defer syscall.Close(now)
	then, at, err := source(was.item)
	if err != nil {
		return false, err
	}
	if then != CorpusFD {
		defer syscall.Close(then)
	}
	return equal(now, then, at, l.Size)
}

func openToRead(path string) (int, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err == syscall.EACCES && syscall.Chmod(path, 0o600) == nil {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	}
	return fd, fail("read", path, err)
}

// equal compares size bytes of a, from its start, with those of b from offset.
func equal(a, b int, offset, size int64) (bool, error) {
	var x, y [16 << 10]byte
	for at := int64(0); at < size; {
		want := min(size-at, int64(len(x)))
		n, err := syscall.Pread(a, x[:want], at)
		if err != nil || n == 0 {
			return false, err
		}
		for got := 0; got < n; {
			m, err := syscall.Pread(b, y[got:n], offset+at+int64(got))
			if err != nil || m == 0 {
				return false, err
			}
			got += m
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, nil
		}
		at += int64(n)
	}
	return true, nil
}

// store moves a file of the work folder into the outbox.
func (h *helper) store(l *Left) error {
	from := h.folder.work + "/" + l.Name
	l.Stored = h.nextStored()
	if err := syscall.Rename(from, h.setup.Outbox+"/"+l.Stored); err != nil {
		return fail("collect", from, err)
	}
	// The parent, perhaps not root, must be able to read it.
	return fail("collect", from, syscall.Chmod(h.setup.Outbox+"/"+l.Stored, 0o600))
}

func (h *helper) nextStored() string {
	h.stored++
	return strconv.Itoa(h.stored)
}

// collect moves what the case left into the outbox. A partial ending keeps at
// most the output limit.
func (h *helper) collect(d *Done) error {
	f := &h.folder
	var err error
	h.names, h.strange, err = f.changes()
	if err == errTooMany {
		d.Kind, d.Code = outputLimited(d)
		f.watch.broken = true
		return nil
	}
	if err != nil {
		return err
	}
	budget := h.setup.OutputMax - d.Stdout.Size - d.Stderr.Size
	for _, name := range h.names {
		l, counts, err := f.left(name)
		if err != nil {
			return err
		}
		if counts {
			if err := h.take(d, l, &budget); err != nil {
				return err
			}
		}
	}
	return nil
}

// take adds l to what the case left, within what a partial ending may keep.
func (h *helper) take(d *Done, l Left, budget *int64) error {
	if l.Form == Regular && !h.setup.Keep {
		*budget -= l.Size
		if *budget < 0 {
			d.Kind, d.Code = outputLimited(d)
			if *budget+l.Size <= 0 {
				return nil
			}
			l.Size += *budget
			if err := syscall.Truncate(h.folder.work+"/"+l.Name, l.Size); err != nil {
				return fail("cut", l.Name, err)
			}
		}
		if err := h.store(&l); err != nil {
			return err
		}
	}
	d.Files = append(d.Files, l)
	return nil
}

// outputLimited keeps a stronger ending that was found before.
func outputLimited(d *Done) (kind, code int) {
	if d.Kind == TimedOut || d.Kind == OutOfMemory {
		return d.Kind, d.Code
	}
	return OutputLimit, 0
}

// settle makes the folder ready for the next case. It runs when the parent
// has its answer already.
func (h *helper) settle() error {
	f := &h.folder
	if h.setup.Keep {
		return nil
	}
	if err := h.restore(); err != nil || !f.sound() {
		if err := f.lay(h.setup.Given); err != nil {
			return err
		}
	}
	if h.jobs++; h.jobs%shedEvery == 0 {
		shed()
	}
	return nil
}

// shedEvery is after how many cases resident text is given back again.
const shedEvery = 256

// restore brings the lane's folder back to the given files.
func (h *helper) restore() error {
	f := &h.folder
	for _, name := range h.names {
		err := syscall.Unlink(f.work + "/" + name)
		if err != nil && err != syscall.ENOENT && err != syscall.EISDIR && err != syscall.ENOTDIR {
			return fail("remove", name, err)
		}
	}
	for _, dir := range h.strange {
		if err := syscall.Rmdir(f.work + "/" + dir); err != nil && err != syscall.ENOENT {
			return fail("remove", dir, err)
		}
	}
	for _, name := range h.names {
		if p := f.given[name]; p != nil && name != f.source {
			if err := f.place(p.item); err != nil {
				return err
			}
		}
	}
	if err := f.removeSource(); err != nil {
		return err
	}
	if err := f.tidy(); err != nil {
		return err
	}
	// What tidying raised counts as our own, but a lost watch shows in sound.
	return f.watch.read()
}
