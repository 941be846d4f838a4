package probe

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"muster/lab/results"
)

// Exhaust starts a process that exceeds a limit of threads, and measures how Go's runtime ends it.
// Its words are the command of that process, which measures [Block] with the same limit. It also
// reports Go's default limit, which may exceed that of the machine.
type Exhaust struct{ Limit int }

// Block is the process of [Exhaust]. Goroutines read from its standard input, a pipe without
// data, as they would from an unresponsive disk. Each read keeps a thread, because the runtime's
// poller is not involved.
type Block struct{ Limit int } // threads

func (o Exhaust) measure(in Input) (s results.Sample, err error) {
	if len(in.words) == 0 {
		return s, errors.New("a command for the process is required")
	}
	var failed FirstBytes
	c := exec.CommandContext(in.ctx, in.words[0], in.words[1:]...)
	c.Stderr = &failed
	// GOTRACEBACK=crash, which the caller may have set, would write a core dump.
	c.Env = append(os.Environ(), "GOTRACEBACK=single")
	c.WaitDelay = time.Second
	// The threads block on this pipe because nobody writes to it. If this process dies, its
	// end of the pipe closes, and the other process ends too.
	hold, err := c.StdinPipe()
	if err != nil {
		return s, err
	}
	defer hold.Close()
	began := time.Now()
	err = c.Run()
	wall := time.Since(began)
	exceeded := 0
	if _, e := fmt.Sscanf(failed.firstLine(), "runtime: program exceeds %d-thread limit", &exceeded); e != nil {
		return s, failed.Explain(cmp.Or(in.ctx.Err(), err, errors.New("the process did not exceed its limit of threads")))
	}
	const most = 1 << 20 // a limit below the current number of threads would end this process
	byDefault := debug.SetMaxThreads(most)
	debug.SetMaxThreads(byDefault)
	return results.Sample{N: 1, Values: []results.Value{
		value(results.NsPerOp, wall), value(results.Threads, exceeded), value(results.Status, c.ProcessState.ExitCode()), value(results.ThreadsMax, byDefault),
	}}, nil
}

// measure returns only if the pipe closes before the runtime ends the process.
func (o Block) measure(in Input) (s results.Sample, err error) {
	pipe, ok := in.stdin.(*os.File)
	if !ok {
		return s, errors.New("standard input is not a file")
	}
	debug.SetMaxThreads(o.Limit)
	fd := int(pipe.Fd())
	if err := syscall.SetNonblock(fd, false); err != nil {
		return s, err
	}
	var all sync.WaitGroup
	for range o.Limit + 1 {
		all.Go(func() { _, _ = syscall.Read(fd, make([]byte, 1)) })
	}
	all.Wait()
	return s, fmt.Errorf("the pipe closed before the process exceeded %d threads", o.Limit)
}
