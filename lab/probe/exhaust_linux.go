package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Exhaust starts a process that needs one thread after the other, and tells how Go's
// runtime ended it. Where this machine, its limits or its memory might not have that many
// threads to spare, nothing is started, and the error is a *CannotTell. When Exhaust
// returns, nothing of the process is left, however it ended.
func Exhaust(ctx context.Context, o ExhaustOptions) (Exhausted, error) {
	if o.Limit == 0 {
		o.Limit = ThreadsMax
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if len(o.Command) == 0 || o.Limit < 1 {
		return Exhausted{}, errors.New("there must be a command, and a limit of 1 or more")
	}
	if reason := tooFewThreads("/proc", o.Limit+o.Limit/10); reason != "" {
		return Exhausted{}, &CannotTell{"how Go ends a program with too many threads", reason}
	}
	late := fmt.Errorf("the process that was to run out of threads still ran after %v", o.Patience)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Patience, late)
	defer cancel()
	return o.run(ctx)
}

func (o *ExhaustOptions) run(ctx context.Context) (Exhausted, error) {
	var told lastBytes
	var said firstBytes
	c := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...)
	c.Stdout, c.Stderr = &told, &said
	// With crash, which somebody may have set, it would leave a core.
	c.Env = append(os.Environ(), "GOTRACEBACK=single")
	// All that it may have started are one group.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	// What blocks its threads is that nothing comes from here. When this process is no
	// more, its end of the pipe is closed, and the other one ends too.
	hold, err := c.StdinPipe()
	if err != nil {
		return Exhausted{}, err
	}
	defer hold.Close()
	began := time.Now()
	if err := c.Start(); err != nil {
		return Exhausted{}, err
	}
	err = c.Wait()
	e := Exhausted{Limit: o.Limit, Threads: lastNumber(told.bytes), Said: firstLines(said.bytes), Wall: time.Since(began)}
	// Its leader has ended, so only others of the group are there to be killed, if any.
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	if ctx.Err() != nil {
		return e, context.Cause(ctx)
	}
	e.Status = c.ProcessState.ExitCode()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return e, err
	}
	return e, nil
}

// BlockThreads is what Exhaust's process does: with no more threads allowed than limit (0
// = Go's own), goroutines read from a pipe in which nothing comes, as they would read from
// a disk that does not answer, and tell report how many threads there are. Such a read
// keeps a thread, for the runtime's poller is not asked. It returns if the pipe is closed
// before the runtime has ended the process.
func BlockThreads(limit int, pipe *os.File, report io.Writer) error {
	if limit == 0 {
		limit = ThreadsMax
	}
	debug.SetMaxThreads(limit)
	fd := int(pipe.Fd())
	if err := syscall.SetNonblock(fd, false); err != nil {
		return err
	}
	var all sync.WaitGroup
	var block func(more int)
	// Each starts the next when it is about to read, so the last report is of all threads.
	block = func(more int) {
		fmt.Fprintf(report, "%d\n", threads())
		if more > 0 {
			all.Go(func() { block(more - 1) })
		}
		_, _ = syscall.Read(fd, make([]byte, 1))
	}
	block(limit)
	all.Wait()
	return fmt.Errorf("the pipe was closed before %d threads were too many", limit)
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct{ bytes []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	l.bytes = append(l.bytes, p...)
	if over := len(l.bytes) - keptBytesMax; over > 0 {
		l.bytes = append(l.bytes[:0], l.bytes[over:]...)
	}
	return len(p), nil
}

// lastNumber is the largest of the numbers at the end, one a line: several goroutines
// tell at the same time.
func lastNumber(lines []byte) int {
	most := 0
	for line := range bytes.Lines(lines) {
		n, _ := strconv.Atoi(strings.TrimSpace(string(line))) // the first line may be cut
		most = max(most, n)
	}
	return most
}
