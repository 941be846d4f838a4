package lane

import (
	"errors"
	"syscall"
	"time"
)

// helper is the state of one lane between cases. One thread uses it.
type helper struct {
	setup        *Setup
	answers      answerQueue
	folder       folder
	tree         tree
	memory       memory
	traits       traitWatch
	pidMax       pidMax
	ipc          ipc
	keys         keys
	spawner      spawner
	mounts       mounts
	outbox       string // as this process sees it; so is the folder
	stdout       streamFile
	stderr       streamFile
	null         path  // of /dev/null
	storedCount  int   // files moved to the outbox so far, for their names
	pendingBytes int64 // left by cases of the present batch
	freeBytes    int64 // on the lane's file system, after the last case
	orphaned     bool  // the parent is gone
	mountStays   bool  // something is mounted over the lane's folder, which may not be touched

	// State of the present case.
	began          time.Time
	threadsAtStart int64 // on the machine, at the first look; 0 before
	changes        changes
	outputLeft     int64    // bytes that the case may still leave
	inlineLeft     int64    // bytes of contents that the answer may still take
	inlineBuffer   []byte   // their memory, reused
	files          []Output // reused
}

// prepare makes the lane ready for its first case.
func prepare(s *Setup) (*helper, error) {
	if err := isolateProcess(); err != nil {
		return nil, err
	}
	run := runFolder(s)
	if run != "" {
		if err := syscall.Chdir(run); err != nil {
			return nil, fail("enter", run, err)
		}
	}
	h := &helper{setup: s, outbox: relativeTo(run, s.Outbox), folder: newFolder(relativeTo(run, s.Root)), tree: tree{pids: s.PIDNamespace}}
	dir := h.folder.work // as cases see it
	if err := h.folder.rebuild(s.Given); err != nil {
		return nil, err
	}
	if s.Canonical != "" {
		if err := mount(s.Root, s.Canonical, s.PIDNamespace); err != nil {
			return nil, err
		}
		dir = s.Canonical + "/work"
		if run != "" {
			hideFolder(run)
		}
	}
	if s.NoNetwork {
		if err := raiseLoopback(); err != nil {
			return nil, err
		}
	}
	h.pidMax.set(s.PIDNamespace, s.ProcessesMax)
	h.ipc.unshare(s.PIDNamespace)
	h.keys.joinKeyring()
	requestShortSlice()
	if err := dropCapabilities(); err != nil {
		return nil, err
	}
	h.mounts.watch(s.Root, s.Canonical)
	h.tree.ownProc = ownProc()
	if err := h.spawner.prepare(s.Env, dir); err != nil {
		return nil, fail("use", "the environment", err)
	}
	h.traits.recordFirst()
	return h, h.openStreams()
}

func (h *helper) openStreams() error {
	h.null.set("/dev/null")
	h.stdout.path.set(h.outbox, "/stdout")
	h.stderr.path.set(h.outbox, "/stderr")
	return errors.Join(h.stdout.create(), h.stderr.create())
}
