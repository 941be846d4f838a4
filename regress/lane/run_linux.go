package lane

import (
	"errors"
	"syscall"
	"time"
)

// tick is how often a running case's memory and output are looked at.
const tick = 20 * time.Millisecond

var (
	errOrphaned = errors.New("the parent is gone")
	errStuck    = errors.New("not ended by SIGKILL")
)

// orphanPatience is that of a helper whose parent is gone: less than the parent,
// which may be waiting for its end, has with it.
const orphanPatience = 2 * time.Second

// do runs one case.
func (h *helper) do(job *Job) Done {
	var d Done
	stored := h.stored
	if err := h.attempt(job, &d); err != nil {
		h.unstore(stored)
		d = Done{Fault: err.Error(), Changed: errors.Is(err, errChanged), Full: isFull(err), Stuck: errors.Is(err, errStuck)}
		h.orphaned = errors.Is(err, errOrphaned)
		h.folder.watch.broken = true // whatever the folder is like now
	}
	floor, grown := h.memory.tell(len(h.changes.names) + len(h.changes.strange))
	d.Floor, d.Last = floor, h.spent(grown, d.Stuck)
	d.Own, d.Blind = ownCPU(), h.folder.watch.blind()
	return d
}

// spent reports whether the next case needs another helper.
func (h *helper) spent(grown, stuck bool) bool {
	switch {
	case h.mounted:
		return true // nothing may be done to the folder, so the next has another
	case h.setup.Keep:
		return false // there is no next one
	case stuck:
		return false // the parent finds what does not end below this process, and ends it then
	}
	return grown || h.heredity.changed() || h.pidMax.changed() || h.ipc.left() || h.keys.left()
}

func (h *helper) attempt(job *Job, d *Done) error {
	h.changes.reset()
	h.room, h.inline = h.setup.OutputMax, InlineMax
	if err := h.folder.placeSource(job.Source); err != nil {
		return err
	}
	err := h.run(job, d)
	if e := h.mounts.clear(); e != nil {
		h.mounted = true
		return errors.Join(err, e)
	}
	if err != nil {
		return err
	}
	if err := h.keepStream(&h.stdout, d, &d.Stdout); err != nil {
		return err
	}
	if err := h.keepStream(&h.stderr, d, &d.Stderr); err != nil {
		return err
	}
	if err := h.folder.watch.read(); err != nil {
		return err
	}
	if err := h.collect(d); err != nil {
		return err
	}
	if d.Kind == OutputLimit {
		return nil // it may have filled the file system, and is told to be at fault
	}
	return h.roomLeft()
}

// run starts the command, sees it through and leaves nothing of it alive.
func (h *helper) run(job *Job, d *Done) error {
	input := &h.null // for each case anew: it could lock it for the next one
	if job.Stdin {
		input = h.folder.at(job.Source.Name)
	}
	stdin, err := input.open(syscall.O_RDONLY, 0)
	if err != nil {
		return input.fail("open", err)
	}
	defer closeFD(stdin)
	pid, pidfd, err := h.start(job, stdin)
	if err != nil {
		return fail("start", job.Path, err)
	}
	if pidfd >= 0 {
		defer closeFD(pidfd)
	}
	h.tree.begin(pid)
	err = h.attend(pidfd, d)
	d.Wall = time.Since(h.began)
	before := h.tree.reaped
	if err := h.clear(err); err != nil {
		return err
	}
	if left := h.tree.reaped - before; d.Kind <= Signalled && int64(left) > h.setup.ProcessesMax {
		// A fork bomb that the kernel stopped before a look, and that ended by itself.
		d.Kind, d.Code = OutOfMemory, 0
	}
	d.CPU, d.Peak = h.tree.cpu, h.tree.peak
	if limit := h.setup.MemoryMax; limit > 0 && d.Kind <= Signalled && d.Peak > h.memory.most(limit, d.Peak) {
		d.Kind, d.Code = OutOfMemory, 0 // between two looks
	}
	return nil
}

// start starts the command. That the kernel has no process left may be the doing of
// another lane's case, which is about to be ended for it.
func (h *helper) start(job *Job, stdin int) (pid, pidfd int, err error) {
	const patience = 3 * time.Second
	for first := time.Now(); ; {
		h.began, h.machine = time.Now(), 0
		pid, pidfd, err = h.spawner.start(job.Path, job.Args, stdin, h.stdout.fd, h.stderr.fd)
		if err != syscall.EAGAIN || h.began.Sub(first) > patience {
			return pid, pidfd, err
		}
		if err := h.wait(-1, tick); err != nil {
			return 0, -1, err
		}
	}
}

// attend waits for the command to end, or ends it: at its time limit, at a
// limit of memory or output, or when the parent is gone.
func (h *helper) attend(pidfd int, d *Done) error {
	var (
		ending = Exited                       // or why it is being ended
		limit  = h.began.Add(h.setup.Timeout) // of time; then of grace
		lookAt = h.began.Add(tick)
	)
	for {
		next := limit
		if ending == Exited && lookAt.Before(limit) {
			next = lookAt
		}
		if err := h.wait(pidfd, time.Until(next)); err != nil {
			return err
		}
		if err := h.tree.reap(); err != nil || h.tree.over {
			d.Kind, d.Code = endingOf(ending, h.tree.status)
			return err
		}
		switch now := time.Now(); {
		case now.Before(next):
		case ending != Exited:
			if h.tree.kill(h.setup.Patience) {
				return fail("end", "the case", errStuck)
			}
			limit = now.Add(tick)
		case !now.Before(limit):
			ending = TimedOut
			h.tree.signal(syscall.SIGTERM)
			limit = now.Add(h.setup.Grace)
		default:
			if h.answers.send() != nil { // it takes its time
				return errOrphaned
			}
			var err error
			if ending, lookAt, err = h.look(); err != nil {
				return err
			}
			if ending != Exited {
				limit = now
			}
		}
	}
}

// look reports whether the running case is past a limit, and when to look again: at
// most 5 % of the time goes into that; of ours, for a case that keeps us waiting for
// the processor is one to look at.
func (h *helper) look() (ending int, next time.Time, err error) {
	before := ownCPU()
	ending, err = h.overLimit()
	return ending, time.Now().Add(max(tick, 20*(ownCPU()-before))), err
}

// clear ends whatever is left of a case and reaps it. It costs nothing when
// nothing is left, which reap has found out. err is how attending to the case
// went, and in part how this goes: the parent may hang up now, too.
func (h *helper) clear(err error) error {
	for pause := 50 * time.Microsecond; !h.tree.alone; pause = min(2*pause, tick) {
		patience := h.setup.Patience
		if errors.Is(err, errOrphaned) {
			patience = min(patience, orphanPatience)
		}
		if h.tree.kill(patience) {
			if !errors.Is(err, errStuck) {
				err = errors.Join(err, fail("end", "what the case left", errStuck))
			}
			return err
		}
		if err == nil {
			err = h.wait(-1, pause)
		} else {
			_ = poll(nil, pause) // the socket of a parent that is gone would not wait
		}
		if failed := h.tree.reap(); failed != nil {
			return errors.Join(err, failed)
		}
	}
	return err
}

// endingOf is how the case ended: by a limit, or by itself.
func endingOf(limit int, status syscall.WaitStatus) (kind, code int) {
	switch {
	case limit != Exited:
		return limit, 0
	case status.Signaled():
		return Signalled, int(status.Signal())
	}
	return Exited, status.ExitStatus()
}

// wait returns when the command may have ended, or after d.
func (h *helper) wait(pidfd int, d time.Duration) error {
	fds := [2]pollFD{{fd: JobsFD, events: pollIn}, {fd: int32(pidfd), events: pollIn}}
	if pidfd < 0 { // a kernel before 5.4; poll skips a negative descriptor
		d = min(d, time.Millisecond)
	}
	if err := poll(fds[:], d); err != nil {
		return err
	}
	if fds[0].revents != 0 {
		return errOrphaned // it sends nothing during a case
	}
	return nil
}
