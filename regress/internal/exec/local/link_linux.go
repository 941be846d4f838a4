package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/lane"
)

// link is the parent's side of the connection to one helper: a socket for jobs and a pipe for
// answers. A socket for both would be simpler. But then the runtime's poller would wake
// whenever the helper has read a job, because there is room again.
type link struct {
	jobs       *os.File // blocks, at most for sendPatience
	answers    *os.File // waits in the poller
	stream     *stream
	hangUpOnce sync.Once

	frames      lane.Frames
	deadline    time.Time       // for the next answer
	bound       context.Context // its end hangs up
	stopBinding func() bool

	conn  syscall.RawConn // of jobs
	write func(fd uintptr) bool
	b     []byte // the message that is being sent
	sent  int
}

// newLink also returns the helper's ends, in the order of lane's descriptors.
func newLink() (_ *link, jobs, answers *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, nil, os.NewSyscallError("socketpair", err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, nil, errors.Join(os.NewSyscallError("pipe", err), unix.Close(fds[0]), unix.Close(fds[1]))
	}
	patience := unix.NsecToTimeval(int64(sendPatience))
	err = errors.Join(
		os.NewSyscallError("setsockopt", unix.SetsockoptTimeval(fds[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &patience)),
		os.NewSyscallError("set nonblock", unix.SetNonblock(pipe[0], true)))
	l := &link{jobs: os.NewFile(uintptr(fds[0]), "jobs"), answers: os.NewFile(uintptr(pipe[0]), "answers")}
	jobs, answers = os.NewFile(uintptr(fds[1]), "jobs"), os.NewFile(uintptr(pipe[1]), "answers")
	if err == nil {
		err = l.connect()
	}
	if err != nil {
		l.hangUp()
		return nil, nil, nil, errors.Join(err, jobs.Close(), answers.Close())
	}
	return l, jobs, answers, nil
}

func (l *link) connect() (err error) {
	if l.conn, err = l.jobs.SyscallConn(); err != nil {
		return err
	}
	l.write = l.tryWrite
	conn, err := l.answers.SyscallConn()
	l.stream = newStream(conn)
	return err
}

// send sends a message. Nearly always there is room for it at once, so the call bypasses the
// runtime.
func (l *link) send(b []byte) error {
	l.b = b
	err := l.conn.Write(l.write)
	l.b = nil
	if err == nil && l.sent < len(b) {
		_, err = l.jobs.Write(b[l.sent:]) // it waits, or returns the error
	}
	return asLaneDeath(err)
}

// tryWrite writes as much as there is room for.
func (l *link) tryWrite(fd uintptr) bool {
	l.sent, _ = lane.SendNow(int(fd), l.b) // an error comes back when the rest is sent
	return true
}

// hangUp makes the helper kill the processes of its case, and end. It may be called more than
// once, and while the link is in use: a wait then ends with an error.
func (l *link) hangUp() {
	l.hangUpOnce.Do(func() {
		_ = unix.Shutdown(int(l.jobs.Fd()), unix.SHUT_RDWR) // it ends a waiting send
		l.jobs.Close()
		l.answers.Close()
	})
}

// bindTo makes the end of ctx hang up, instead of the end of an earlier context. A pass has
// one context for all its cases: registering with it for each case would cost more than
// sending the job.
func (l *link) bindTo(ctx context.Context) {
	if l.bound == ctx {
		return
	}
	l.unbind()
	l.bound, l.stopBinding = ctx, context.AfterFunc(ctx, l.hangUp)
}

// unbind undoes bindTo.
func (l *link) unbind() {
	if l.stopBinding != nil {
		l.stopBinding()
	}
	l.bound, l.stopBinding = nil, nil
}

// extendDeadline makes the link wait for the next answer at least that long, and at most twice
// that. Setting the time for each case would cost more than sending the job.
func (l *link) extendDeadline(d time.Duration) error {
	by := time.Now().Add(d)
	if !by.After(l.deadline) {
		return nil
	}
	l.deadline = by.Add(d)
	return asLaneDeath(l.answers.SetReadDeadline(l.deadline))
}

// receive waits for the next answer and decodes it.
func (l *link) receive(decode func([]byte) error) error {
	answer, err := l.frames.Next(l.stream.Read)
	if err == nil {
		err = decode(answer)
	}
	return asLaneDeath(err)
}

// asLaneDeath makes an errLaneDied of an error of the link.
func asLaneDeath(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (%w)", errLaneDied, err)
}

// mode is a way to isolate a lane. Which modes work depends on the user, the kernel's settings
// and the container around muster.
type mode struct {
	name  string
	flags uintptr
	user  bool // with a user namespace of its own, in which the lane may mount
}

// modes lists the modes, the best first.
func modes(plain, noNetwork bool) []mode {
	var apart uintptr = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	if noNetwork {
		apart |= syscall.CLONE_NEWNET
	}
	last := mode{name: "plain"}
	switch {
	case plain:
		return []mode{last}
	case os.Geteuid() == 0:
		return []mode{{"namespaces", apart, false}, {"user namespace", apart | syscall.CLONE_NEWUSER, true}, last}
	}
	return []mode{{"user namespace", apart | syscall.CLONE_NEWUSER, true}, last}
}

func (m *mode) isolates() bool { return m.flags != 0 }

// These are the capabilities to mount, to enable a loopback, to drop capabilities of cases, and to
// enter another mount namespace.
const (
	capSysChroot = 18
	capSysAdmin  = 21
	capNetAdmin  = 12
	capSetPcap   = 8
)

func (m *mode) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: m.flags}
	if !m.user {
		return a
	}
	// The user keeps its number: mapped to 0, a compiler would believe that it is root.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{capSysAdmin, capNetAdmin, capSetPcap, capSysChroot}
	return a
}

// startFirst starts lane 0 in the best mode that works. The other lanes use the same mode.
func (c *Crew) startFirst(ctx context.Context) error {
	why := errors.New("not asked for")
	for _, m := range modes(c.o.plain, c.o.NoNetwork) {
		if c.o.NoNetwork && !m.isolates() {
			return fault.Environmentf("--no-network: this machine does not let lanes have a network of their own (%w): leave it out, or run where user namespaces are allowed", why)
		}
		err := c.lanes[0].start(ctx, &m)
		if err == nil {
			c.mode = &m
			if !m.isolates() {
				c.o.Warn(fmt.Sprintf(WithoutNamespaces+" (%v): their folders' paths are rewritten to %s in what cases leave", why, Canonical))
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err() // err may be the kernel's refusal of this mode
		}
		if regress.ClassOf(err) == regress.Input || errors.As(err, new(*errFull)) {
			return err // also if there is no room: another mode needs as much
		}
		why = err
	}
	return fault.Environmentf("no lane can be started: %w", why)
}
