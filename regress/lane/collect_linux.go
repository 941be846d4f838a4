package lane

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"syscall"
	"time"
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
	slices.SortFunc(d.Files, func(a, b Output) int { return cmp.Compare(a.Name, b.Name) })
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
	if err := syscall.Rename(path.String(), to); err != nil {
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

// streamFile is the file that receives one of the streams. A file costs far less than a pipe
// with a reader. With O_APPEND several writers share it as they would a pipe.
//
// It is opened anew for each case: all that a case does to its descriptor (flags, locks,
// leases) ends with it. The file itself is reused if the case did not touch it. That shows
// only for a file that was made some time before the case, so a spare file waits to become
// old enough. Without one, quick cases would get a new file each time.
type streamFile struct {
	path        path
	fd          int
	stat        syscall.Stat_t // at the last readStat
	statIsFinal bool           // stat was read after the case
	madeAt      int64          // ns: ctime of the new file
	moved       bool           // into the outbox

	spare       path
	spareMadeAt int64 // ns
}

// set sets the file's path, and makes the file and its spare.
func (c *streamFile) set(dir, name string) error {
	c.path.set(dir, name)
	c.spare.set(dir, name, ".spare")
	if err := c.makeSpare(); err != nil {
		return err
	}
	return c.create()
}

// open opens the file, and makes it if it does not exist.
func (c *streamFile) open() (err error) {
	c.fd, err = c.path.open(syscall.O_RDWR|syscall.O_CREAT|syscall.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	return c.path.fail("open", err)
}

// create makes a new file.
func (c *streamFile) create() error {
	err := c.open()
	if err == nil {
		err = c.readStat()
	}
	c.madeAt = c.stat.Ctim.Nano()
	return err
}

// makeSpare makes the next file.
func (c *streamFile) makeSpare() error {
	next := streamFile{path: c.spare}
	err := next.create()
	closeFD(next.fd)
	c.spareMadeAt = next.madeAt
	return err
}

// useSpare replaces the file, which is gone, by the spare file.
func (c *streamFile) useSpare() error {
	c.path, c.spare = c.spare, c.path
	c.madeAt = c.spareMadeAt
	if err := errors.Join(c.makeSpare(), c.open()); err != nil {
		return err
	}
	if err := c.readStat(); err != nil || c.isUntouched() {
		return err
	}
	closeFD(c.fd) // a case can reach the spare file in a plain lane
	return c.replace()
}

// readStat reads what the file is like now.
func (c *streamFile) readStat() error { return c.path.fail("look at", syscall.Fstat(c.fd, &c.stat)) }

func (c *streamFile) size() int64 {
	if c.readStat() != nil {
		return 0
	}
	return c.stat.Size
}

// isUntouched reports whether nobody touched the file, as far as its last stat shows. Writing
// to it, its mode, links and attributes all move ctime.
func (c *streamFile) isUntouched() bool {
	return c.stat.Size == 0 && c.stat.Ctim.Nano() == c.madeAt
}

// renew prepares the stream for the case after one that began then. It closes the open file
// first, because somebody may hold a lease with it.
func (c *streamFile) renew(began time.Time) error {
	var err error
	if !c.statIsFinal { // the machine failed during the case
		err = c.readStat()
	}
	c.statIsFinal = false
	closeFD(c.fd)
	c.fd = -1
	if err != nil {
		return err
	}
	// A case that begins just after a file was made may move its ctime too little to show.
	old := began.Add(-clockLagMax).UnixNano()
	if !c.moved && c.madeAt < old && c.isUntouched() {
		return c.open()
	}
	if c.spareMadeAt >= old {
		return c.replace()
	}
	if err := c.remove(); err != nil {
		return err
	}
	return c.useSpare()
}

// replace replaces the file by a new one.
func (c *streamFile) replace() error {
	if err := c.remove(); err != nil {
		return err
	}
	return c.create()
}

// remove removes the file, unless it was moved.
func (c *streamFile) remove() error {
	if c.moved {
		c.moved = false
		return nil
	}
	if err := c.path.unlink(); err != nil && err != syscall.ENOENT {
		return c.path.fail("remove", err)
	}
	return nil
}

// collectStream collects what was written to a stream, up to the output limit.
func (h *helper) collectStream(c *streamFile, d *Answer, to *Output) (err error) {
	size := c.size()
	c.statIsFinal = true
	to.Size = h.allowBytes(d, size)
	if to.Size <= h.inlineLeft {
		if to.Size > 0 {
			to.Content, err = h.readInline(c.fd, to.Size, &c.path)
		}
		return err
	}
	if to.Size < size {
		if err := syscall.Ftruncate(c.fd, to.Size); err != nil {
			return c.path.fail("cut", err)
		}
	}
	to.Stored, c.moved = h.nextStoredName(), true
	return h.moveOut(&c.path, to.Stored)
}

// runBatch runs the jobs of a batch and answers each. It ends the batch after a case that
// should not make the others wait. over says that the helper must end.
func (h *helper) runBatch(jobs []Job) (over bool, err error) {
	h.pendingBytes = 0
	for i := range jobs {
		d := h.runJob(&jobs[i])
		if h.orphaned {
			return true, nil // nobody reads an answer, and writing one would raise a signal
		}
		h.pendingBytes += h.setup.OutputMax - h.outputLeft
		d.BatchEnds = i == len(jobs)-1 || !h.mayContinue(&d)
		if err := h.answers.add(&d); err != nil || d.HelperEnds {
			return true, err
		}
		if d.Stuck {
			return false, nil // the parent inspects what still runs, and hangs up
		}
		if err := h.restoreLane(); err != nil {
			return true, errors.Join(err, h.answers.send())
		}
		if d.BatchEnds {
			break
		}
	}
	return false, nil
}

// mayContinue reports whether the next case of a batch may begin after d, before the parent
// has collected the outputs.
func (h *helper) mayContinue(d *Answer) bool {
	const untakenMax = 8 << 20 // bytes
	return d.Fault == "" && !d.HelperEnds && d.Kind <= Signalled && d.Wall < tick &&
		h.pendingBytes <= untakenMax && h.freeBytes/2 >= h.setup.OutputMax
}

// answerQueue holds answers of a batch until they are sent together, because each message
// wakes the parent. They are sent when the batch ends, when they have many bytes, and when a
// case turns out to take longer.
type answerQueue struct {
	encoded, waiting []byte // buffers, reused
}

func (a *answerQueue) add(d *Answer) error {
	a.encoded = d.AppendFrame(a.encoded)
	a.waiting = append(a.waiting, a.encoded...)
	if d.BatchEnds || len(a.waiting) > InlineMax {
		return a.send()
	}
	return nil
}

func (a *answerQueue) send() error {
	if len(a.waiting) == 0 {
		return nil
	}
	err := writeFull(AnswersFD, a.waiting)
	a.waiting = a.waiting[:0]
	if cap(a.waiting) > bufferBytesKept {
		a.encoded, a.waiting = nil, nil
	}
	return err
}
