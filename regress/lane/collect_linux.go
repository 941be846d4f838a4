package lane

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// collect takes what the case left: small contents into the answer, others into
// the outbox.
func (h *helper) collect(d *Done) error {
	h.changes.reset()
	d.Files = h.files[:0]
	err := h.findChanges()
	if errors.Is(err, errTooMany) {
		limitOutput(d)
		h.folder.watch.broken = true // what was found is not all there is
		return nil
	}
	if err != nil {
		return err
	}
	for i := 0; i < len(h.changes.names); i++ {
		if err := h.collectName(d, h.changes.names[i]); err != nil {
			return err
		}
	}
	h.files = d.Files
	slices.SortFunc(d.Files, func(a, b Left) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// collectName adds what is at a name now, if that counts: not a given file as
// it was, and neither folder nor device.
func (h *helper) collectName(d *Done, name string) error {
	f := &h.folder
	path, was := f.at(name), f.given[name]
	var st syscall.Stat_t
	if f.watch.broken && !f.inPlace(name) || path.lstat(&st) != nil {
		st.Mode = 0 // nothing
	}
	form := st.Mode & syscall.S_IFMT
	if form != syscall.S_IFREG && form != syscall.S_IFLNK {
		if was != nil {
			d.Files = append(d.Files, Left{Name: name, Form: Gone})
		}
		return nil
	}
	if st.Nlink > 1 && !f.watch.doubt {
		// Writes through another name raise no event at this one.
		f.watch.doubt = true
		h.addTouched()
		path = f.at(name)
	}
	if was != nil {
		same, err := path.sameAsGiven(&st, was.item)
		if same || err != nil {
			return err
		}
	}
	if form == syscall.S_IFREG {
		return h.take(d, name, path, &st)
	}
	target, err := path.readLink()
	d.Files = append(d.Files, Left{Name: name, Form: Symlink, Size: st.Size, Target: target})
	return err
}

// take adds a regular file, or the part of it that the output limit leaves.
func (h *helper) take(d *Done, name string, path *path, st *syscall.Stat_t) error {
	l := Left{Name: name, Exec: executable(st), Size: st.Size}
	if h.setup.Keep {
		d.Files = append(d.Files, l)
		return nil
	}
	l.Size = h.allow(d, st.Size)
	if l.Size < st.Size && l.Size == 0 {
		return nil
	}
	var err error
	if l.Size == st.Size && st.Nlink == 1 && l.Size > h.inline {
		l.Stored = h.nextStored()
		err = h.move(path, l.Stored)
	} else {
		err = h.copyOut(path, st, &l)
	}
	d.Files = append(d.Files, l)
	return err
}

// allow says how much of size bytes the case may still leave.
func (h *helper) allow(d *Done, size int64) int64 {
	allowed := min(size, h.room)
	h.room -= allowed
	if allowed < size {
		h.room = 0
		limitOutput(d)
	}
	return allowed
}

// limitOutput notes that the case left too much, unless a stronger ending was
// found before.
func limitOutput(d *Done) {
	if d.Kind != TimedOut && d.Kind != OutOfMemory {
		d.Kind, d.Code = OutputLimit, 0
	}
}

// move takes a file that has no other name into the outbox. The parent, perhaps
// not root, must be able to read it.
func (h *helper) move(path *path, stored string) error {
	to := h.outbox + "/" + stored
	err := syscall.Rename(path.String(), to)
	if err == syscall.EPERM && loosenAt(atCwd, path.String()) {
		err = syscall.Rename(path.String(), to)
	}
	if err != nil {
		return path.fail("collect", err)
	}
	return path.fail("collect", syscall.Chmod(to, 0o600))
}

// copyOut copies the start of a file, or one that is small or has other names,
// perhaps outside the lane: what those stand for must not be altered.
func (h *helper) copyOut(path *path, st *syscall.Stat_t, l *Left) error {
	if l.Size == 0 {
		return nil
	}
	in, err := path.openToRead(st)
	if err != nil {
		return err
	}
	defer syscall.Close(in)
	if l.Size <= h.inline {
		l.Content, err = h.quote(in, l.Size, path)
		return err
	}
	l.Stored = h.nextStored()
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_CLOEXEC
	out, err := syscall.Open(h.outbox+"/"+l.Stored, flags, 0o600)
	if err != nil {
		return path.fail("collect", err)
	}
	defer syscall.Close(out)
	for at := int64(0); at < l.Size; {
		b := h.folder.copied[:min(l.Size-at, int64(len(h.folder.copied)))]
		if err := errors.Join(readFull(in, b, at), writeFull(out, b)); err != nil {
			return path.fail("collect", err)
		}
		at += int64(len(b))
	}
	return nil
}

// quote reads what goes into the answer, and counts it.
func (h *helper) quote(fd int, size int64, path *path) ([]byte, error) {
	if h.quoted == nil {
		h.quoted = make([]byte, InlineMax)
	}
	b := h.quoted[InlineMax-h.inline:][:size:size]
	h.inline -= size
	return b, path.fail("read", readFull(fd, b, 0))
}

// unstore takes back what a case put into the outbox, of which the parent is not
// told: since there were so many.
func (h *helper) unstore(since int) {
	for ; h.stored > since; h.stored-- {
		_ = syscall.Unlink(h.outbox + "/" + strconv.Itoa(h.stored)) // what has not got there is not there
	}
}

func (h *helper) nextStored() string {
	h.stored++
	return strconv.Itoa(h.stored)
}
