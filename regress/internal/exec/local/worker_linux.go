package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/regress/internal/name"
	"muster/regress/lane"
)

// errLaneDied says that a helper went away unasked.
var errLaneDied = errors.New("the lane's helper died")

// worker is the parent's side of one lane. One goroutine uses it at a time.
type worker struct {
	crew   *Crew
	number int
	root   string // the lane's folder
	plain  bool   // its cases see root where it is, not at Canonical
	blind  bool   // the kernel grants it no inotify

	// The present helper; helper is nil between one that is gone and the next.
	helper *exec.Cmd
	link   *link
	errors *os.File // what it said in dying
	outbox *outbox
	floor  int64         // KiB
	own    time.Duration // CPU that it took itself, as it last told

	digests digests
	batch   lane.Batch // space, used again, as is
	out     []byte     // this
}

// start brings up a helper and waits until it is ready. In mode m the lane's
// cases see what that says. A helper that dies before it is ready costs another
// start; after deathsMax of them the way to start it does not work.
func (w *worker) start(ctx context.Context, m *mode) (err error) {
	for range deathsMax {
		if err = w.startOnce(ctx, m); !errors.Is(err, errLaneDied) {
			break
		}
	}
	return err
}

func (w *worker) startOnce(ctx context.Context, m *mode) error {
	w.plain = !m.apart()
	w.crew.threads.Lock()
	err := w.crew.mended(w.makeFolders())
	if err == nil {
		err = w.spawn(m)
	}
	w.crew.threads.Unlock()
	if err != nil {
		return err
	}
	if err := w.greet(ctx); err != nil {
		why, left := w.end()
		switch {
		case left != nil:
			w.crew.o.Warn(left.Error())
		case errors.Is(err, errLaneDied):
			err = fmt.Errorf("%w: %s", err, why)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// makeFolders makes the lane's folder and its outbox.
func (w *worker) makeFolders() (err error) {
	c := w.crew
	usual := filepath.Join(c.base.dir, fmt.Sprintf("%03d", w.number))
	if w.outbox, err = newOutbox(fmt.Sprintf("%s.out%d", usual, c.started.Add(1))); err != nil {
		return err
	}
	if w.root == "" {
		w.root = usual
	}
	if c.o.Keep != "" {
		w.root = c.o.Keep
		return nil
	}
	if removeTree(w.root) != nil {
		w.root = c.freshRoot() // this one goes with the base, if it can
	}
	if err := os.Mkdir(w.root, 0o755); err != nil {
		w.outbox.done()
		return err
	}
	return nil
}

// freshRoot names a folder for a lane whose own folder cannot be removed, perhaps because
// it has a mount or processes left in it. The name is as long as the
// numbers of lanes, and none of them.
func (c *Crew) freshRoot() string {
	const first = 10 * 36 * 36 // "a00"
	return filepath.Join(c.base.dir, strconv.FormatInt(first+c.fresh.Add(1), 36))
}

// moveOut gives the lane another folder at its next start. Processes that SIGKILL did not
// end may still write to the present folder when they come back.
func (w *worker) moveOut() { w.root = w.crew.freshRoot() }

// helperEnv is the environment of a helper, of which no case sees anything: one
// thread that runs code, no signals to interrupt it, and no collector, but for a
// heap beyond what one case explains (lane's memory says why).
var helperEnv = []string{"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMEMLIMIT=64MiB"}

// spawn starts the helper with its ends of the link and the corpus.
func (w *worker) spawn(m *mode) (err error) {
	defer func() {
		if err != nil {
			w.outbox.done()
		}
	}()
	l, jobs, answers, err := newLink()
	if err != nil {
		return err
	}
	defer jobs.Close()
	defer answers.Close()
	defer func() {
		if err != nil {
			l.hangUp()
		}
	}()
	corpus, err := openCorpus(&w.crew.o)
	if err != nil {
		return err
	}
	defer corpus.Close()
	said, err := os.Create(w.outbox.dir + "/errors")
	if err != nil {
		return w.crew.mended(err)
	}
	command := w.crew.o.Helper
	// Not bound to a context: a helper ends when its link does, after it has killed
	// what its case started.
	cmd := exec.CommandContext(context.Background(), command[0], append(command[1:len(command):len(command)], lane.Argument)...)
	cmd.ExtraFiles = []*os.File{jobs, corpus, answers} // lane.JobsFD, CorpusFD and AnswersFD
	cmd.Stderr = said
	cmd.Dir = "/"
	cmd.Env = append(helperEnv[:len(helperEnv):len(helperEnv)], helperKey+w.crew.base.dir+"/")
	cmd.SysProcAttr = m.attributes()
	if err := cmd.Start(); err != nil { // ENOSPC here means too many namespaces
		said.Close()
		return err
	}
	w.helper, w.link, w.errors, w.own = cmd, l, said, 0
	w.limitUser()
	return nil
}

// openCorpus opens what holds the sources for one helper.
func openCorpus(o *Options) (*os.File, error) {
	f := o.Corpus.File()
	if f == nil {
		return os.OpenFile(o.Corpus.Root(), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	}
	// Helpers use no file offset, so they may share the description.
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// greet sends the lane's setup and waits for the answer.
func (w *worker) greet(ctx context.Context) error {
	setup := w.crew.setup
	setup.Root, setup.Outbox, setup.PIDNamespace = w.root, w.outbox.dir, !w.plain
	if w.plain {
		setup.Env = seen(setup.Env, w.root)
	} else {
		setup.Canonical = Canonical
	}
	w.link.obey(ctx)
	var ready lane.Ready
	err := w.link.send(setup.AppendFrame(nil))
	if err == nil {
		err = w.await(readyPatience, ready.Decode)
	}
	if err != nil {
		return err
	}
	w.note(ready.HelperCPU, ready.Floor)
	if ready.Fault != "" {
		return w.crew.blamed(ready.Fault, ready.CorpusChanged, ready.DiskFull)
	}
	w.noteBlind(ready.NoInotify)
	return nil
}

// note takes over what the present helper tells about itself.
func (w *worker) note(own time.Duration, floor int64) {
	w.crew.own.Add(int64(own - w.own))
	w.own = own
	if floor == w.floor {
		return
	}
	w.floor = floor
	for all := &w.crew.floor; ; {
		if was := all.Load(); was >= floor || all.CompareAndSwap(was, floor) {
			return
		}
	}
}

// noteBlind takes over whether the helper has inotify now.
func (w *worker) noteBlind(blind bool) {
	if w.blind = blind; blind {
		w.crew.tellBlind()
	}
}

// end makes the present helper end, and with it its case, waits for it, and
// returns what is known about why it ended. If it does not end, as the init of a
// PID namespace does not before all processes in there, it is left behind, and
// that is the error. The next start brings the lane back, in another folder.
func (w *worker) end() (why string, left error) {
	if w.helper == nil {
		return "it did not start", nil
	}
	w.link.disobey()
	w.link.hangUp()
	if w.endHelper() {
		why = w.reap()
		w.outbox.done()
	} else {
		left = w.stuck()
		_ = w.helper.Process.Release()
		w.moveOut()
	}
	w.errors.Close()
	w.helper, w.own = nil, 0
	return why, left
}

// endHelper waits for the end of a helper whose link is closed, and reports whether the
// helper ended. A helper that takes too long is killed, after all processes that it started.
func (w *worker) endHelper() bool {
	patience := &w.crew.o.patience
	w.wake()
	if w.awaitEnd(patience.end) {
		return true
	}
	w.killTree()
	_ = w.helper.Process.Kill()
	return w.awaitEnd(patience.killed)
}

// endOrWarn is end where another error is to be told, or none.
func (w *worker) endOrWarn() {
	if _, left := w.end(); left != nil {
		w.crew.o.Warn(left.Error())
	}
}

// reap takes over how the helper ended.
func (w *worker) reap() (why string) {
	w.crew.threads.Lock()
	defer w.crew.threads.Unlock()
	_ = w.helper.Wait() // its status is looked at below
	if code := w.helper.ProcessState.ExitCode(); w.plain && code != 0 && code != 1 {
		endStrays(w.root) // in a PID namespace the kernel has done so
	}
	return w.lastWords()
}

// lastWords is the first line of what the helper said, or how it ended.
func (w *worker) lastWords() string {
	said := make([]byte, 400)
	n, _ := w.errors.ReadAt(said, 0)
	first, _, _ := strings.Cut(strings.TrimSpace(string(said[:n])), "\n")
	if first != "" {
		return withThreadsMend(name.Print(first))
	}
	return w.helper.ProcessState.String()
}
