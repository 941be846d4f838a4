package lane

import (
	"errors"
	"syscall"
	"time"

	"muster/regress/lane/fork"
	"muster/regress/lane/observe"
)

// tick is the interval between looks at a running case's memory and output. For the first tick, an alarm
// instead of a pidfd bounds the wait for a command.
const tick = 20 * time.Millisecond

var (
	errOrphaned = errors.New("the parent is gone")
	errStuck    = errors.New("not ended by SIGKILL")
)

// runJob runs one case.
func (h *helper) runJob(job *Job) Answer {
	var d Answer
	stored := h.storedCount
	if err := h.runAndCollect(job, &d); err != nil {
		h.removeStored(stored)
		d = Answer{Fault: err.Error(), CorpusChanged: errors.Is(err, errChanged), DiskFull: isFull(err), Stuck: errors.Is(err, errStuck), NoServer: fork.IsRefusal(err)}
		h.orphaned = errors.Is(err, errOrphaned)
		h.folder.watch.broken = true // the state of the folder is unknown
	}
	floor, grown := h.memory.measure(len(h.changes.names) + len(h.changes.folders))
	d.Floor, d.HelperEnds = floor, h.needsSuccessor(grown, d.Stuck)
	d.HelperCPU, d.NoInotify = ownCPU(), h.folder.watch.blind()
	return d
}

// needsSuccessor reports whether the next case needs another helper.
func (h *helper) needsSuccessor(grown, stuck bool) bool {
	switch {
	case h.mountStays:
		return true // the folder may not be touched, so the next case needs another
	case h.setup.Keep:
		return false // no case follows
	case stuck:
		return false // the parent finds the processes that do not end below this one, and then ends it
	}
	return grown || h.ipc.hasObjects()
}

func (h *helper) runAndCollect(job *Job, d *Answer) error {
	h.changes.reset()
	h.outputLeft, h.inlineLeft = h.setup.OutputMax, InlineMax
	if err := h.folder.placeSource(job.Source); err != nil {
		return err
	}
	h.spawner.observer = nil
	if job.Observe && h.tree.ownProc {
		h.spawner.observer = observe.New(h.setup.inside(), h.setup.covered(), h.folder.slash.shown, !h.setup.NoNetwork)
	}
	err := h.run(job, d)
	if job.Observe {
		seen := h.spawner.observer.End()
		d.Observed = &seen
	}
	if e := h.mounts.unmountAll(); e != nil {
		h.mountStays = true
		return errors.Join(err, e)
	}
	if err != nil {
		return err
	}
	if err := h.collectStream(&h.stdout, d, &d.Stdout); err != nil {
		return err
	}
	if err := h.collectStream(&h.stderr, d, &d.Stderr); err != nil {
		return err
	}
	if err := h.folder.watch.read(); err != nil {
		return err
	}
	if err := h.collect(d); err != nil {
		return err
	}
	if d.Kind == OutputLimit {
		return nil // the case may have filled the file system, and its limit is reported
	}
	return h.checkFreeSpace()
}

// run starts the command, waits for its end, and ends everything that it left running.
func (h *helper) run(job *Job, d *Answer) error {
	stdin, err := openInput(h, job)
	if err != nil {
		return err
	}
	defer closeFD(stdin)
	pid, pidfd, err := h.start(job, stdin)
	if fork.IsRefusal(err) {
		h.tree.reset(0)
		return errors.Join(err, h.endTree(nil)) // the command may have run
	}
	if err != nil {
		return fail("start", job.Path, err)
	}
	h.tree.reset(pid)
	err = await(h, pidfd, d)
	d.Wall = time.Since(h.began)
	before := h.tree.reaped
	if err := h.endTree(err); err != nil {
		return err
	}
	if err := h.spawner.failure(); err != nil {
		return fail("start", job.Path, err)
	}
	if job.Fork && !h.server.IsLinked() && d.Kind <= Signalled {
		return &fork.Refusal{Why: "its server ended during a case"}
	}
	if left := h.tree.reaped - before; d.Kind <= Signalled && int64(left) > h.setup.ProcessesMax {
		// The kernel stopped a fork bomb before a look, and it ended by itself.
		d.Kind, d.Code = OutOfMemory, 0
	}
	d.CPU, d.Peak = h.tree.cpu, h.tree.peak
	if limit := h.setup.MemoryMax; limit > 0 && d.Kind <= Signalled && d.Peak > h.memory.peakMax(limit, d.Peak) {
		d.Kind, d.Code = OutOfMemory, 0 // the peak was between two looks
	}
	return nil
}

// openInput opens the standard input anew for each case, because a case could lock it for the next one.
func openInput(h *helper, job *Job) (int, error) {
	input := &h.null
	if job.Stdin {
		input = h.folder.at(job.Source.Name)
	}
	fd, err := input.open(syscall.O_RDONLY, 0)
	if err != nil {
		return 0, input.fail("open", err)
	}
	return fd, nil
}

// start starts the command.
func (h *helper) start(job *Job, stdin int) (pid, pidfd int, err error) {
	if job.Fork {
		return startFork(h, job, stdin)
	}
	begin(h, h.setup.Timeout)
	return h.spawner.start(job.Path, job.Args, stdin, h.stdout.fd, h.stderr.fd)
}

// begin notes that the case starts, and may take this long.
func begin(h *helper, timeout time.Duration) {
	h.began = time.Now()
	h.timeLimit = h.began.Add(timeout)
}

// startFork starts the command as a fork of its server.
func startFork(h *helper, job *Job, stdin int) (pid, pidfd int, err error) {
	if job.NewServer || !h.server.Runs(job.Path, job.Args) {
		input, err := openInput(h, job)
		if err != nil {
			return 0, -1, err
		}
		defer closeFD(input)
		c := fork.Command{
			Path: job.Path, Args: job.Args, Stdin: input, Stdout: h.stdout.fd, Stderr: h.stderr.fd, Source: h.dir + "/" + job.Source.Name, Env: h.setup.Env,
			Wait: h.setup.Timeout, Parent: JobsFD, Start: h.spawner.startServer, MountProc: h.spawner.mountProc,
		}
		if h.tree.pids && h.tree.ownProc {
			c.Shim = h.setup.Shim
		}
		watch := h.folder.watch
		if !watch.watchOpens(h.folder.at(job.Source.Name)) {
			return 0, -1, &fork.Refusal{Why: "the kernel grants no inotify"}
		}
		if err := h.server.Start(c); err != nil {
			if err == fork.ErrParentGone {
				err = errOrphaned
			}
			return 0, -1, err
		}
		if err := watch.read(); err != nil {
			return 0, -1, err
		}
		if watch.opened {
			h.server.Stop()
			return 0, -1, &fork.Refusal{Why: "the source is the interpreter of a script, and the system reads it before the tool runs"}
		}
	}
	begin(h, h.setup.Timeout-h.server.Took()) // else a case could end in time that a plain run does not end in
	return h.server.Fork(stdin, h.stdout.fd, h.stderr.fd)
}

// await waits for the command to end. If the command has no pidfd, an alarm ends the wait after a tick. A
// command that still runs then gets a pidfd.
func await(h *helper, pidfd int, d *Answer) error {
	if pidfd < 0 && h.alarm.works {
		first := min(tick, time.Until(h.timeLimit))
		h.alarm.set(max(first, time.Microsecond))
		err := h.tree.await()
		h.alarm.set(0)
		if err != nil {
			return err
		}
		if h.tree.commandEnded {
			d.Kind, d.Code = endingOf(Exited, h.tree.status)
			return h.waitForEvent(-1, 0) // the parent may be gone
		}
		pidfd = fork.OpenPID(h.tree.pid)
	}
	if pidfd >= 0 {
		defer closeFD(pidfd)
	}
	return h.awaitCommand(pidfd, d)
}

// awaitCommand waits for the command to end. It ends the command at a limit of time, memory or
// output, and when the parent is gone.
func (h *helper) awaitCommand(pidfd int, d *Answer) error {
	var (
		ending = Exited      // or the reason why the command is being ended
		limit  = h.timeLimit // later of grace
		lookAt = h.began.Add(tick)
	)
	for {
		next := limit
		if ending == Exited && lookAt.Before(limit) {
			next = lookAt
		}
		if err := h.waitForEvent(pidfd, time.Until(next)); err != nil {
			return err
		}
		if err := h.tree.reap(); err != nil || h.tree.commandEnded {
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
			if h.answers.send() != nil { // the other answers must not wait for a slow case
				return errOrphaned
			}
			var err error
			if ending, lookAt, err = h.checkLimits(); err != nil {
				return err
			}
			if ending != Exited {
				limit = now
			}
		}
	}
}

// checkLimits reports whether the running case exceeds a limit, and when to check again.
// Checks take at most 5 % of the time. That is measured in the helper's own CPU time, so that
// a busy machine does not suppress checks.
func (h *helper) checkLimits() (ending int, next time.Time, err error) {
	before := ownCPU()
	ending, err = h.exceededLimit()
	return ending, time.Now().Add(max(tick, 20*(ownCPU()-before))), err
}

// endTree ends everything that is left of a case, and reaps it. It costs nothing if nothing is
// left, which reap has found out. err is the result of awaitCommand. endTree may extend it, as
// the parent may also hang up now.
func (h *helper) endTree(err error) error {
	for pause := 50 * time.Microsecond; !h.tree.isEmpty; pause = min(2*pause, tick) {
		if h.tree.kill(h.setup.Patience) {
			if !errors.Is(err, errStuck) {
				err = errors.Join(err, fail("end", "what the case left", errStuck))
			}
			return err
		}
		if err == nil {
			err = h.waitForEvent(-1, pause)
		} else {
			_ = poll(nil, pause) // the socket of a parent that is gone would not wait
		}
		if failed := h.tree.reap(); failed != nil {
			return errors.Join(err, failed)
		}
	}
	return err
}

// endingOf returns how the case ended: by a limit, or by itself.
func endingOf(limit int, status syscall.WaitStatus) (kind, code int) {
	switch {
	case limit != Exited:
		return limit, 0
	case status.Signaled():
		return Signalled, int(status.Signal())
	}
	return Exited, status.ExitStatus()
}

// waitForEvent returns when the command may have ended, or after d.
func (h *helper) waitForEvent(pidfd int, d time.Duration) error {
	watching := h.spawner.observer
	fds := [3]pollFD{{fd: JobsFD, events: pollIn}, {fd: int32(pidfd), events: pollIn}, {fd: watching.Listener(), events: pollIn}}
	if pidfd < 0 { // the kernel is older than 5.4; poll skips a negative descriptor
		d = min(d, time.Millisecond)
	}
	list := fds[:]
	if watching == nil {
		list = fds[:2]
	}
	if err := poll(list, d); err != nil {
		return err
	}
	if fds[2].revents != 0 {
		watching.Serve(fds[2].revents&pollIn == 0)
	}
	if fds[0].revents != 0 {
		return errOrphaned // the parent sends nothing during a case
	}
	return nil
}

// exceededLimit returns OutOfMemory or OutputLimit if the running case exceeds its limit, else
// Exited. A full file system is an error.
func (h *helper) exceededLimit() (ending int, err error) {
	if limit := h.setup.MemoryMax; limit > 0 {
		if kib := h.tree.resident() >> 10; kib > h.memory.peakMax(limit, kib) {
			return OutOfMemory, nil
		}
	}
	if h.tooManyThreads() {
		return OutOfMemory, nil
	}
	over, err := h.outputExceeded()
	if over || err != nil {
		return OutputLimit, err
	}
	return Exited, h.checkFreeSpace()
}

// tooManyThreads reports whether the case has more processes and threads than it may. Mostly
// the whole machine has fewer, which one small file shows.
func (h *helper) tooManyThreads() bool {
	most, all := h.setup.ProcessesMax, threadsOfAll()
	return (all == 0 || all > most) && h.tree.countThreads(most) > most
}

// outputExceeded adds up what the case has written so far. Files in home, tmp and /tmp count while
// it runs, because they take the same room.
func (h *helper) outputExceeded() (bool, error) {
	f := &h.folder
	if h.mounts.anyMounted() {
		return false, nil // names may lead elsewhere now; they do not at the end
	}
	if err := f.watch.read(); err != nil {
		return false, err
	}
	s := usage{bytes: h.stdout.size() + h.stderr.size(), given: f.given}
	if f.watch.needsWalk {
		s.addBelow(f.work, "")
	} else {
		for name := range f.watch.names {
			s.addFile(f.work+"/"+name, false)
		}
	}
	s.given = nil
	if f.watch.spare {
		s.addBelow(f.home, "")
		s.addBelow(f.tmp, "")
	}
	if f.watch.slash {
		s.addBelow(f.slash.dir, "")
	}
	return s.bytes > h.setup.OutputMax || s.files > FilesMax, nil
}

// usage adds up files. Files that cannot be read are left for the end of the case.
type usage struct {
	bytes int64
	files int
	given map[string]*placedFile // given files, which do not count
}

// addFile adds one file: the disk space that it takes if onDisk is set, else its length.
func (s *usage) addFile(path string, onDisk bool) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return
	}
	if onDisk {
		s.bytes += st.Blocks * 512
	} else {
		s.bytes += st.Size
	}
}

// addBelow adds the files below top/dir, or none if that is a link. A folder that can be read keeps its mode: the
// case still runs, and sees it.
func (s *usage) addBelow(top, dir string) {
	path := top
	if dir != "" { // a slash at the end would follow the link
		path += "/" + dir
	}
	fd, err := openDir(atCwd, path, 0o500)
	if err != nil {
		return
	}
	var inner []string
	_ = eachEntryAt(fd, func(e entry) error {
		name := join(dir, e.name)
		if s.given[name] != nil {
			return nil
		}
		if s.files++; s.files > FilesMax {
			return errTooMany
		}
		if e.dir {
			inner = append(inner, name)
		} else {
			s.addFile(top+"/"+name, s.given == nil)
		}
		return nil
	})
	syscall.Close(fd)
	for _, name := range inner {
		s.addBelow(top, name)
	}
}
