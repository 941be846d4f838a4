package lane

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// collect collects the files that the case left: small contents into the answer, others into
// the outbox.
func (h *helper) collect(d *Answer) error {
	h.changes.reset()
	d.Files = h.files[:0]
	err := h.findChanges()
	if errors.Is(err, errTooMany) {
		markOutputLimit(d)
		h.folder.watch.broken = true // more may have changed than was found
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
	slices.SortFunc(d.Files, func(a, b Output) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// collectName adds what has this name now. It skips a given file that did not change, folders
// and devices.
func (h *helper) collectName(d *Answer, name string) error {
	f := &h.folder
	path, was := f.at(name), f.given[name]
	var st syscall.Stat_t
	if f.watch.broken && !f.hasFolders(name) || path.lstat(&st) != nil {
		st.Mode = 0 // there is nothing
	}
	form := st.Mode & syscall.S_IFMT
	if form != syscall.S_IFREG && form != syscall.S_IFLNK {
		if was != nil {
			d.Files = append(d.Files, Output{Name: name, Form: Gone})
		}
		return nil
	}
	if st.Nlink > 1 && !f.watch.inDoubt {
		// Writes through another name raise no event at this one.
		f.watch.inDoubt = true
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
		return h.collectFile(d, name, path, &st)
	}
	target, err := path.readLink()
	d.Files = append(d.Files, Output{Name: name, Form: Symlink, Size: st.Size, Target: target})
	return err
}

// collectFile adds a regular file, up to the output limit.
func (h *helper) collectFile(d *Answer, name string, path *path, st *syscall.Stat_t) error {
	l := Output{Name: name, Exec: executable(st), Size: st.Size}
	if h.setup.Keep {
		d.Files = append(d.Files, l)
		return nil
	}
	l.Size = h.allowBytes(d, st.Size)
	if l.Size < st.Size && l.Size == 0 {
		return nil
	}
	var err error
	if l.Size == st.Size && st.Nlink == 1 && l.Size > h.inlineLeft {
		l.Stored = h.nextStoredName()
		err = h.moveOut(path, l.Stored)
	} else {
		err = h.copyOut(path, st, &l)
	}
	d.Files = append(d.Files, l)
	return err
}

// allowBytes returns how many of size bytes the case may still leave.
func (h *helper) allowBytes(d *Answer, size int64) int64 {
	allowed := min(size, h.outputLeft)
	h.outputLeft -= allowed
	if allowed < size {
		h.outputLeft = 0
		markOutputLimit(d)
	}
	return allowed
}

// markOutputLimit records that the case left too much, unless a stronger ending was found
// before.
func markOutputLimit(d *Answer) {
	if d.Kind != TimedOut && d.Kind != OutOfMemory {
		d.Kind, d.Code = OutputLimit, 0
	}
}

// moveOut moves a file that has no other name into the outbox. The parent, perhaps not root,
// must be able to read it.
func (h *helper) moveOut(path *path, stored string) error {
	to := h.outbox + "/" + stored
	err := syscall.Rename(path.String(), to)
	if err == syscall.EPERM && clearFlagsAt(atCwd, path.String()) {
		err = syscall.Rename(path.String(), to)
	}
	if err != nil {
		return path.fail("collect", err)
	}
	return path.fail("collect", syscall.Chmod(to, 0o600))
}

// copyOut copies the start of a file, a small file, or a file that has other names. Those may
// be outside the lane and must not be altered.
func (h *helper) copyOut(path *path, st *syscall.Stat_t, l *Output) error {
	if l.Size == 0 {
		return nil
	}
	in, err := path.openToRead(st)
	if err != nil {
		return err
	}
	defer syscall.Close(in)
	if l.Size <= h.inlineLeft {
		l.Content, err = h.readInline(in, l.Size, path)
		return err
	}
	l.Stored = h.nextStoredName()
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_CLOEXEC
	out, err := syscall.Open(h.outbox+"/"+l.Stored, flags, 0o600)
	if err != nil {
		return path.fail("collect", err)
	}
	defer syscall.Close(out)
	for at := int64(0); at < l.Size; {
		b := h.folder.copyBuffer[:min(l.Size-at, int64(len(h.folder.copyBuffer)))]
		if err := errors.Join(readFull(in, b, at), writeFull(out, b)); err != nil {
			return path.fail("collect", err)
		}
		at += int64(len(b))
	}
	return nil
}

// readInline reads a content that goes into the answer, and counts its bytes.
func (h *helper) readInline(fd int, size int64, path *path) ([]byte, error) {
	if h.inlineBuffer == nil {
		h.inlineBuffer = make([]byte, InlineMax)
	}
	b := h.inlineBuffer[InlineMax-h.inlineLeft:][:size:size]
	h.inlineLeft -= size
	return b, path.fail("read", readFull(fd, b, 0))
}

// removeStored removes the files that a failed case put into the outbox, after the first ones.
// The parent does not know them.
func (h *helper) removeStored(since int) {
	for ; h.storedCount > since; h.storedCount-- {
		_ = syscall.Unlink(h.outbox + "/" + strconv.Itoa(h.storedCount)) // a file that did not get there does not matter
	}
}

func (h *helper) nextStoredName() string {
	h.storedCount++
	return strconv.Itoa(h.storedCount)
}
