package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/lane"
)

// deathsMax is how often one case may lose its helper before the machine counts as broken, and a helper may die
// before it is ready.
const deathsMax = 3

// RunAll runs the first of a batch's cases, at least one, and returns their number. It does
// not run the cases after a slow one, because other lanes may be idle. When ctx ends, it kills
// the present case before it returns.
//
// If a process was refused during a case, neither it nor a later case of the batch has an outcome:
// the error is of class Environment. If its helper dies, the case starts again. After deathsMax deaths the error is
// of class Environment, as for any failure of the machine. If the corpus changed, it is of
// class Input.
func (c *Crew) RunAll(ctx context.Context, b exec.Batch) (ran int) {
	w, err := c.acquire(ctx, b.Jobs[0].Avoid)
	if err != nil {
		b.Ended(0, nil, err)
		return 1
	}
	defer c.release(w)
	before := c.refusals.Snapshot()
	return w.runWithHelpers(ctx, exec.Batch{Jobs: b.Jobs, Started: b.Started, Ended: func(i int, r *exec.Result, err error) {
		if err == nil && c.refusals.ChangedSince(before) {
			r.Release()
			r, err = nil, fault.Environmentf("while cases ran, a process was refused by the limit of the control group (pids.max): raise it, or use fewer --jobs")
		}
		b.Ended(i, r, err)
	}})
}

// runWithHelpers is RunAll on this lane, with as many helpers as necessary.
func (w *worker) runWithHelpers(ctx context.Context, b exec.Batch) (ran int) {
	for deaths := 0; ran == 0; {
		var err error
		if w.helper == nil {
			if err = w.start(ctx, w.crew.mode); err != nil {
				err = fmt.Errorf("lane %d cannot be started again: %w", w.number, withProcessesMend(err))
			}
		}
		if err == nil {
			ran, err = w.run(ctx, b)
		}
		switch {
		case err == nil:
			return ran
		case ctx.Err() != nil:
			w.endOrWarn()
			err = ctx.Err()
		case errors.Is(err, errLaneDied):
			err = w.handleDeath(b.Jobs[ran].Source.Name, err, &deaths)
		}
		if err != nil {
			b.Ended(ran, nil, err)
			return ran + 1
		}
		b.Jobs = b.Jobs[:ran+1] // the case runs alone, because any of several may have caused it
	}
	return ran
}

// handleDeath cleans up after a helper that died during a case. It returns an error if the
// case must not get another helper. A helper that gave no answer counts twice, because that takes
// minutes.
func (w *worker) handleDeath(source string, death error, deaths *int) error {
	why, left := w.end()
	if left != nil {
		return fmt.Errorf("%s: %w", name.Print(source), left)
	}
	if *deaths++; errors.Is(death, errSilent) {
		*deaths++
	}
	if *deaths >= deathsMax {
		return fault.Environmentf("%s: %w again and again: %s", name.Print(source), death, why)
	}
	return nil
}

// outbox is the folder for the outputs of one helper's cases. It outlives the helper as long
// as results have contents in it.
type outbox struct {
	dir   string
	users atomic.Int64 // the helper, and such results
}

// release ends a use. The last one removes the folder.
func (o *outbox) release() {
	if o.users.Add(-1) == 0 {
		_ = removeTree(o.dir) // the rest is removed with the lanes' folder
	}
}

// stream is the reading end of a helper's answers, which must not block. Its reads wait only
// in the runtime's poller: each system call ends at once, so it bypasses the runtime (see
// lane.ReadNow).
type stream struct {
	conn syscall.RawConn

	// State of the present call.
	b   []byte
	n   int
	err error
	// The function tryRead, made once.
	read func(fd uintptr) bool
}

// newStream returns a stream over a pipe or socket. One goroutine uses it at a time.
func newStream(conn syscall.RawConn) *stream {
	s := &stream{conn: conn}
	s.read = s.tryRead
	return s
}

// tryRead makes one system call, and reports whether there was something to read.
func (s *stream) tryRead(fd uintptr) bool {
	for {
		switch s.n, s.err = lane.ReadNow(int(fd), s.b); s.err {
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
			continue
		}
		return true
	}
}

// Read reads the data that has come, or waits for some.
func (s *stream) Read(b []byte) (int, error) {
	s.b = b
	err := s.conn.Read(s.read)
	s.b = nil
	switch {
	case err != nil:
		return 0, err
	case s.err == nil && s.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return s.n, s.err
}

// toCanonical replaces a plain lane's own path by the canonical one.
func (w *worker) toCanonical(b []byte) []byte {
	if !w.plain || !bytes.Contains(b, []byte(w.root)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(w.root), []byte(Canonical))
}

// rewriteFile replaces every occurrence of old in a file. A case leaves at most OutputMax bytes.
func rewriteFile(path string, old, now []byte) error {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, old) {
		return err
	}
	return os.WriteFile(path, bytes.ReplaceAll(text, old, now), 0o600)
}
