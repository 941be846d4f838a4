package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"muster/regress/lane"
)

// errLaneDied says that the helper went away during a case.
var errLaneDied = errors.New("the lane's helper died")

// worker is the parent's side of one lane. One goroutine uses it at a time.
type worker struct {
	number int
	floor  int64  // KiB
	root   string // the lane's folder
	outbox string
	plain  bool // its cases see root where it is, not at Canonical

	cmd    *exec.Cmd
	socket *os.File
	errors *os.File // what the helper said in dying
	in     []byte   // buffers, reused
	out    []byte
}

// startWorker starts one lane and waits until it is ready.
func (c *Crew) startWorker(ctx context.Context, number int, m *mode) (*worker, error) {
	w := &worker{number: number, plain: !m.apart()}
	if err := w.makeFolders(c); err != nil {
		return nil, err
	}
	setup := c.setup
	setup.Root, setup.Outbox, setup.PIDs = w.root, w.outbox, m.apart()
	if w.plain {
		setup.Env = seen(setup.Env, w.root)
	} else {
		setup.Canonical = Canonical
	}
	if err := w.spawn(&c.o, m); err != nil {
		return nil, err
	}
	if err := w.greet(ctx, &setup); err != nil {
		w.end()
		return nil, fmt.Errorf("lane %d: %w", number, err)
	}
	return w, nil
}

// makeFolders makes the lane's folder and its outbox. The outbox of a lane that
// died before is left alone: results may still be read from it.
func (w *worker) makeFolders(c *Crew) error {
	w.root = filepath.Join(c.base.dir, fmt.Sprintf("%03d", w.number))
	w.outbox = fmt.Sprintf("%s.out%d", w.root, c.started.Add(1))
	if err := os.Mkdir(w.outbox, 0o700); err != nil {
		return err
	}
	if c.o.Keep != "" {
		w.root = c.o.Keep
		return nil
	}
	if err := removeTree(w.root); err != nil {
		return err
	}
	return os.Mkdir(w.root, 0o755)
}

// spawn starts the helper with its end of the socket and the corpus.
func (w *worker) spawn(o *Options, m *mode) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	w.socket = ours
	stuff, err := openCorpus(o)
	if err != nil {
		ours.Close()
		return err
	}
	defer stuff.Close()
	if w.errors, err = os.Create(w.outbox + "/errors"); err != nil {
		ours.Close()
		return err
	}
	// Not bound to a context: a helper ends when its socket closes, after it
	// has killed what its case started.
	w.cmd = exec.CommandContext(context.Background(), o.Helper[0], append(o.Helper[1:len(o.Helper):len(o.Helper)], lane.Argument)...)
	w.cmd.ExtraFiles = []*os.File{theirs, stuff}
	w.cmd.Stderr = w.errors
	w.cmd.Dir = "/"
	// A small heap, and no signals to preempt the one goroutine there is.
	w.cmd.Env = []string{"GOMAXPROCS=1", "GOGC=10", "GODEBUG=asyncpreemptoff=1"}
	w.cmd.SysProcAttr = m.attributes()
	if err := w.cmd.Start(); err != nil {
		ours.Close()
		w.errors.Close()
		return err
	}
	return nil
}

func socketPair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	// Ours waits in the runtime's poller instead of on a thread of its own.
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, os.NewSyscallError("set nonblock", err)
	}
	return os.NewFile(uintptr(fds[0]), "lane"), os.NewFile(uintptr(fds[1]), "lane helper"), nil
}

// openCorpus opens what holds the sources anew: lanes share no file offset.
func openCorpus(o *Options) (*os.File, error) {
	if f := o.Corpus.File(); f != nil {
		return os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	}
	return os.OpenFile(o.Corpus.Root(), os.O_RDONLY|syscall.O_DIRECTORY, 0)
}

// readyPatience bounds how long a lane may take to place the given files.
const readyPatience = 5 * time.Minute

func (w *worker) greet(ctx context.Context, setup *lane.Setup) error {
	deadline := time.Now().Add(readyPatience)
	if err := w.socket.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { w.socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var ready lane.Ready
	if err := w.exchange(setup.AppendFrame(nil), ready.Decode); err != nil {
		return err
	}
	if ready.Fault != "" {
		return errors.New(ready.Fault)
	}
	w.floor = ready.Floor
	return w.socket.SetDeadline(time.Time{})
}

// exchange sends one message and decodes the answer.
func (w *worker) exchange(message []byte, decode func([]byte) error) error {
	if _, err := w.socket.Write(message); err != nil {
		return w.died(err)
	}
	var header [4]byte
	if _, err := io.ReadFull(w.socket, header[:]); err != nil {
		return w.died(err)
	}
	n, err := lane.FrameSize(header)
	if err != nil {
		return w.died(err)
	}
	if cap(w.in) < n {
		w.in = make([]byte, n)
	}
	w.in = w.in[:n]
	if _, err := io.ReadFull(w.socket, w.in); err != nil {
		return w.died(err)
	}
	if err := decode(w.in); err != nil {
		return w.died(err)
	}
	return nil
}

// died words what is known about the end of a helper.
func (w *worker) died(err error) error {
	said := make([]byte, 400)
	n, _ := w.errors.ReadAt(said, 0)
	text := strings.TrimSpace(string(said[:n]))
	if text == "" {
		text = err.Error()
	}
	first, _, _ := strings.Cut(text, "\n")
	return fmt.Errorf("%w: %s", errLaneDied, first)
}

// hangUp closes the socket: the helper kills what its case started and ends.
func (w *worker) hangUp() { w.socket.Close() }

// endPatience bounds how long a helper may take to end by itself.
const endPatience = 5 * time.Second

// end makes sure that the helper is gone, reaps it, and returns the CPU time of
// it and of all processes that it reaped.
func (w *worker) end() time.Duration {
	w.hangUp()
	timer := time.AfterFunc(endPatience, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	// The status says nothing: it may have been killed.
	_ = w.cmd.Wait()
	w.errors.Close()
	if w.cmd.ProcessState == nil {
		return 0
	}
	return w.cmd.ProcessState.UserTime() + w.cmd.ProcessState.SystemTime()
}
