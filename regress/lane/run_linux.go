package lane

import (
	"syscall"
	"time"
)

// tick is how often a running case's memory and output are looked at.
const tick = 20 * time.Millisecond

// do runs one case.
func (h *helper) do(job *Job) Done {
	var d Done
	if err := h.attempt(job, &d); err != nil {
		return Done{Fault: err.Error()}
	}
	return d
}

func (h *helper) attempt(job *Job, d *Done) error {
	h.names, h.strange = nil, nil
	if err := h.folder.placeSource(job.Source); err != nil {
		return err
	}
	if err := h.run(job, d); err != nil {
		return err
	}
	if err := h.keepStreams(d); err != nil {
		return err
	}
	if err := h.folder.watch.read(); err != nil {
		return err
	}
	if err := h.collect(d); err != nil {
		return err
	}
	return h.roomLeft(d)
}

// run starts the command, sees it through and leaves nothing of it alive.
func (h *helper) run(job *Job, d *Done) error {
	stdin := h.null
	if job.Stdin {
		fd, err := syscall.Open(h.folder.work+"/"+job.Source.Name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return fail("open", job.Source.Name, err)
		}
		defer syscall.Close(fd)
		stdin = fd
	}
	pidfd := -1
	began := time.Now()
	pid, err := syscall.ForkExec(job.Path, job.Args, &syscall.ProcAttr{
		Dir: h.dir, Env: h.setup.Env,
		Files: []uintptr{uintptr(stdin), uintptr(h.stdout.fd), uintptr(h.stderr.fd)},
		Sys:   &syscall.SysProcAttr{Setpgid: true, PidFD: &pidfd},
	})
	if err != nil {
		return fail("start", job.Path, err)
	}
	if pidfd >= 0 {
		defer syscall.Close(pidfd)
	}
	h.tree.begin(pid)
	if err := h.attend(began, pid, pidfd, d); err != nil {
		h.tree.kill()
		return err
	}
	d.Wall = time.Since(began)
	if err := h.tree.kill(); err != nil {
		return err
	}
	d.CPU, d.Peak = h.tree.cpu, h.tree.peak
	if max := h.setup.MemoryMax; max > 0 && d.Peak > max>>10 && d.Kind <= Signalled {
		d.Kind, d.Code = OutOfMemory, 0
	}
	return nil
}

// attend waits for the command to end, or ends it: at its time limit, at a
// limit of memory or output, or when the parent is gone.
func (h *helper) attend(began time.Time, pid, pidfd int, d *Done) error {
	var (
		limit  = began.Add(h.setup.Timeout)
		next   = began.Add(tick)
		ending = Exited
	)
	for {
		ended, err := h.wait(pidfd, min(time.Until(next), time.Until(limit)))
		if err != nil {
			return err
		}
		if ended {
			if status, over, err := h.tree.reap(pid); err != nil || over {
				setEnding(d, ending, status)
				return err
			}
		}
		now := time.Now()
		switch {
		case ending == Exited && !now.Before(limit):
			ending = TimedOut
			h.tree.signal(syscall.SIGTERM)
			limit = now.Add(h.setup.Grace)
		case ending == Exited && !now.Before(next):
			if ending = h.overLimit(); ending != Exited {
				limit = now
			}
			next = time.Now().Add(max(tick, 20*time.Since(now)))
		case ending != Exited && !now.Before(limit):
			h.tree.signal(syscall.SIGKILL)
			limit = now.Add(tick)
		}
		if ending != Exited {
			next = limit
		}
	}
}

func setEnding(d *Done, ending int, status syscall.WaitStatus) {
	switch {
	case ending != Exited:
		d.Kind, d.Code = ending, 0
	case status.Signaled():
		d.Kind, d.Code = Signalled, int(status.Signal())
	default:
		d.Kind, d.Code = Exited, status.ExitStatus()
	}
}

// wait returns when the command may have ended, or after d.
func (h *helper) wait(pidfd int, d time.Duration) (ended bool, err error) {
	fds := []pollFD{{fd: SocketFD, events: pollIn}, {fd: int32(pidfd), events: pollIn}}
	if pidfd < 0 { // a kernel before 5.4
		fds, d = fds[:1], min(d, time.Millisecond)
	}
	if err := poll(fds, max(0, int64(d))); err != nil {
		return false, err
	}
	if fds[0].revents != 0 {
		return false, errClosed // the parent sends nothing during a case
	}
	return pidfd < 0 || fds[1].revents != 0, nil
}

// overLimit returns OutOfMemory or OutputLimit when the running case is past
// its limit, else Exited.
func (h *helper) overLimit() int {
	if max := h.setup.MemoryMax; max > 0 && h.tree.resident() > max {
		return OutOfMemory
	}
	if h.outputSoFar() > h.setup.OutputMax {
		return OutputLimit
	}
	return Exited
}

// outputSoFar adds up what the case has written. Errors are left for the end.
func (h *helper) outputSoFar() int64 {
	f := &h.folder
	sum := h.stdout.size() + h.stderr.size()
	if f.watch.read() != nil {
		return sum
	}
	if f.watch.full {
		names, _, err := f.walk("", nil, nil)
		if err == errTooMany {
			return h.setup.OutputMax + 1
		}
		for _, name := range names {
			sum += fileSize(f.work + "/" + name)
		}
		return sum
	}
	for name := range f.watch.names {
		sum += fileSize(f.work + "/" + name)
	}
	return sum
}

func fileSize(path string) int64 {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0
	}
	return st.Size
}

// keepStreams moves what was written to the streams into the outbox, at most
// the output limit of it.
func (h *helper) keepStreams(d *Done) error {
	room := h.setup.OutputMax
	for _, s := range []struct {
		from *capture
		to   *Left
	}{{&h.stdout, &d.Stdout}, {&h.stderr, &d.Stderr}} {
		size := s.from.size()
		if size == 0 {
			continue
		}
		if size > room {
			d.Kind, d.Code = outputLimited(d)
			if err := syscall.Ftruncate(s.from.fd, room); err != nil {
				return fail("cut", s.from.path, err)
			}
			size = room
		}
		room -= size
		s.to.Size, s.to.Stored = size, h.nextStored()
		if err := s.from.moveTo(h.setup.Outbox + "/" + s.to.Stored); err != nil {
			return err
		}
	}
	return nil
}

// reserve is the free space, in bytes, under which a lane's file system counts
// as full: what the case left may then have been cut short by it.
const reserve = 64 << 10

var errFull = syscall.ENOSPC

// roomLeft reports a full file system, which makes the case's outcome the
// machine's and not the tool's, unless it was the case that went past its limit.
func (h *helper) roomLeft(d *Done) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(h.setup.Outbox, &st); err != nil {
		return fail("look at", h.setup.Outbox, err)
	}
	if d.Kind != OutputLimit && (int64(st.Bavail)*int64(st.Bsize) < reserve || st.Files > 0 && st.Ffree < 2) {
		return fail("use", h.setup.Root, errFull)
	}
	return nil
}
