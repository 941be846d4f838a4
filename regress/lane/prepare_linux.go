package lane

import (
	"errors"
	"syscall"
	"time"
)

// helper is the state of one lane between cases. One thread uses it.
type helper struct {
	setup    *Setup
	answers  answers
	folder   folder
	tree     tree
	memory   memory
	heredity heredity
	pidMax   pidMax
	ipc      ipc
	keys     keys
	spawner  spawner
	mounts   mounts
	outbox   string // as this process sees it, as is the folder
	stdout   capture
	stderr   capture
	null     path  // of /dev/null
	stored   int   // files put into the outbox so far, for their names
	untaken  int64 // bytes that cases of the present batch left
	free     int64 // bytes on the lane's file system, after the last case
	orphaned bool  // the parent is gone
	mounted  bool  // something, over the lane's folder, which may not be touched any more

	// Of the present case.
	began   time.Time
	machine int64 // threads on it, when they were first looked at; 0 before
	changes changes
	room    int64  // bytes that it may still leave
	inline  int64  // bytes of contents that the answer may still take
	quoted  []byte // the space for them, used again, as are
	files   []Left // these
}

// prepare makes the lane ready for its first case.
func prepare(s *Setup) (*helper, error) {
	if err := standApart(); err != nil {
		return nil, err
	}
	run := runFolder(s)
	if run != "" {
		if err := syscall.Chdir(run); err != nil {
			return nil, fail("enter", run, err)
		}
	}
	h := &helper{setup: s, outbox: below(run, s.Outbox), folder: newFolder(below(run, s.Root)), tree: tree{pids: s.PIDs}}
	dir := h.folder.work // as cases see it
	if err := h.folder.lay(s.Given); err != nil {
		return nil, err
	}
	if s.Canonical != "" {
		if err := mount(s.Root, s.Canonical, s.PIDs); err != nil {
			return nil, err
		}
		dir = s.Canonical + "/work"
		if run != "" {
			hide(run)
		}
	}
	if s.NoNetwork {
		if err := raiseLoopback(); err != nil {
			return nil, err
		}
	}
	h.pidMax.set(s.PIDs, s.ProcessesMax)
	h.ipc.begin(s.PIDs)
	h.keys.begin()
	askShortSlice()
	if err := dropCapabilities(); err != nil {
		return nil, err
	}
	h.mounts.watch(s.Root, s.Canonical)
	h.tree.ownProc = ownProc()
	if err := h.spawner.prepare(s.Env, dir); err != nil {
		return nil, fail("use", "the environment", err)
	}
	h.heredity.begin()
	return h, h.openStreams()
}

func (h *helper) openStreams() error {
	h.null.set("/dev/null")
	h.stdout.path.set(h.outbox, "/stdout")
	h.stderr.path.set(h.outbox, "/stderr")
	return errors.Join(h.stdout.make(), h.stderr.make())
}
