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

	"muster/regress/lane"
)

// link is the parent's side of what connects it with one helper: a socket for
// jobs and a pipe for answers. One for both would be simpler, but the runtime's
// poller wakes whenever the helper has read a job, to say that there is room again.
type link struct {
	jobs    *os.File // blocks, for sendPatience at most
	answers *os.File // waits in the poller
	stream  *stream
	hung    sync.Once

	frames lane.Frames
	due    time.Time       // when it gives up waiting for an answer
	obeys  context.Context // whose end hangs up
	stop   func() bool     // obeying it

	conn  syscall.RawConn // of jobs
	write func(fd uintptr) bool
	b     []byte // of the present send
	sent  int
}

// newLink returns also the helper's ends, in the order of lane's descriptors.
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
	l.write = l.once
	conn, err := l.answers.SyscallConn()
	l.stream = newStream(conn)
	return err
}

// send sends a message. Nearly always there is room for it at once, so the runtime
// need not know of the call.
func (l *link) send(b []byte) error {
	l.b = b
	err := l.conn.Write(l.write)
	l.b = nil
	if err == nil && l.sent < len(b) {
		_, err = l.jobs.Write(b[l.sent:]) // tells what is wrong, or waits
	}
	return died(err)
}

// once writes as much as there is room for.
func (l *link) once(fd uintptr) bool {
	l.sent, _ = lane.SendNow(int(fd), l.b) // what is wrong shows when the rest is sent
	return true
}

// hangUp makes the helper kill what its case started, and end. It may be called
// while the link is in use, which then ends with an error, and more than once.
func (l *link) hangUp() {
	l.hung.Do(func() {
		_ = unix.Shutdown(int(l.jobs.Fd()), unix.SHUT_RDWR) // what waits to send waits no longer
		l.jobs.Close()
		l.answers.Close()
	})
}

// obey makes the end of ctx hang up, from now on and instead of the end of
// another one. A pass has one context for all its cases, and to register with it
// for each costs more than to send the job.
func (l *link) obey(ctx context.Context) {
	if l.obeys == ctx {
		return
	}
	l.disobey()
	l.obeys, l.stop = ctx, context.AfterFunc(ctx, l.hangUp)
}

// disobey takes that back.
func (l *link) disobey() {
	if l.stop != nil {
		l.stop()
	}
	l.obeys, l.stop = nil, nil
}

// await makes the link wait for the next answer at least that long, and at most twice
// that: to set the time for each case anew costs more than to send the job.
func (l *link) await(d time.Duration) error {
	by := time.Now().Add(d)
	if !by.After(l.due) {
		return nil
	}
	l.due = by.Add(d)
	return died(l.answers.SetReadDeadline(l.due))
}

// next waits for the next answer and decodes it.
func (l *link) next(decode func([]byte) error) error {
	answer, err := l.frames.Next(l.stream.Read)
	if err == nil {
		err = decode(answer)
	}
	return died(err)
}

// died is what an error of the link means.
func died(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (%w)", errLaneDied, err)
}
