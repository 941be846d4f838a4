package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/internal/cgroup"
	"muster/internal/readable"
	"muster/lab/results"
)

// exhaustPatience bounds the process that runs out of threads.
const exhaustPatience = time.Minute

// measure fails if this machine may lack that many threads, by its limits or its memory. It then
// starts nothing.
func (o Exhaust) measure(in Input) (s results.Sample, err error) {
	limit := cmp.Or(o.Limit, ThreadsMax)
	if reason := threadShortage("/proc", limit+limit/10); reason != "" {
		return s, fmt.Errorf("how Go ends a program with too many threads cannot be measured here: %s", reason)
	}
	if len(in.words) == 0 {
		return s, errors.New("a command for the process is required")
	}
	ctx, cancel := context.WithTimeout(in.ctx, exhaustPatience)
	defer cancel()
	var reports lastBytes
	var failed FirstBytes
	c := exec.CommandContext(ctx, in.words[0], in.words[1:]...)
	c.Stdout, c.Stderr = &reports, &failed
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
	if exit := (*exec.ExitError)(nil); ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		return s, failed.Explain(cmp.Or(ctx.Err(), err))
	}
	return results.Sample{N: 1, Values: []results.Value{
		value(results.NsPerOp, wall), value(results.Threads, lastNumber(reports.bytes)), value(results.Status, c.ProcessState.ExitCode()),
	}}, nil
}

// measure returns only if the pipe closes before the runtime ends the process.
func (o Block) measure(in Input) (s results.Sample, err error) {
	pipe, ok := in.stdin.(*os.File)
	if !ok {
		return s, errors.New("standard input is not a file")
	}
	limit := cmp.Or(o.Limit, ThreadsMax)
	debug.SetMaxThreads(limit)
	fd := int(pipe.Fd())
	if err := syscall.SetNonblock(fd, false); err != nil {
		return s, err
	}
	var all sync.WaitGroup
	var block func(more int)
	// Each goroutine starts the next just before it reads, so the last report includes all
	// threads.
	block = func(more int) {
		fmt.Fprintf(in.stdout, "%d\n", threads())
		if more > 0 {
			all.Go(func() { block(more - 1) })
		}
		_, _ = syscall.Read(fd, make([]byte, 1))
	}
	block(limit)
	all.Wait()
	return s, fmt.Errorf("the pipe closed before the process exceeded %d threads", limit)
}

// lastBytes keeps the end of its input.
type lastBytes struct{ bytes []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	l.bytes = append(l.bytes, p...)
	if over := len(l.bytes) - keptMax; over > 0 {
		l.bytes = append(l.bytes[:0], l.bytes[over:]...)
	}
	return len(p), nil
}

// lastNumber returns the largest number among lines of one number each. Several goroutines
// write at the same time, so the largest may not be last.
func lastNumber(lines []byte) int {
	most := 0
	for line := range bytes.Lines(lines) {
		n, _ := strconv.Atoi(strings.TrimSpace(string(line))) // the first line may be incomplete
		most = max(most, n)
	}
	return most
}

// threadBytes bounds the memory of a blocked thread of a Go program, inside and outside the
// kernel.
const threadBytes = 64 << 10

// threadShortage explains why this machine cannot safely run need more threads, or returns "".
// proc is the path of /proc. An unreadable value counts as no limit. It counts the threads of
// all users against each limit; the kernel counts fewer.
func threadShortage(proc string, need int) string {
	root := os.DirFS(proc)
	all := runningThreads(root)
	for _, l := range []struct {
		what string
		max  int
	}{
		{"kernel.threads-max", readLimit(root, "sys/kernel/threads-max")},
		{"kernel.pid_max", readLimit(root, "sys/kernel/pid_max")},
		{"the limit of processes (ulimit -u)", readField(root, "self/limits", "Max processes", 1)},
	} {
		if l.max-all < need {
			return fmt.Sprintf("%s is %d, and with %d running threads %d more exceed it", l.what, l.max, all, need)
		}
	}
	if left := cgroup.ProcessesLeft(proc); left < int64(need) {
		return fmt.Sprintf("control groups allow %d more threads, not %d", left, need)
	}
	if free := memoryFree(proc); free/threadBytes < int64(need) {
		return fmt.Sprintf("%s of memory are available, and %s may need %s", readable.BinarySize(int64(free)), readable.Count(int64(need), "thread"), readable.BinarySize(int64(need*threadBytes)))
	}
	return ""
}

// memoryFree returns how many bytes of memory this process could still take.
func memoryFree(proc string) int64 {
	return min(int64(readField(os.DirFS(proc), "meminfo", "MemAvailable:", 1<<10)), cgroup.MemoryLeft(proc))
}

// readLimit reads a file that holds one number. A word such as max, or a missing file, means
// no limit.
func readLimit(root fs.FS, name string) int {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return math.MaxInt
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return math.MaxInt
	}
	return n
}

// runningThreads returns the number of threads on the machine: the part after the slash in the
// fourth field of loadavg.
func runningThreads(root fs.FS) int {
	text, _ := fs.ReadFile(root, "loadavg")
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(total)
	return n
}

// readField returns the first number after a word at the start of a line.
func readField(root fs.FS, name, word string, unit int) int {
	text, _ := fs.ReadFile(root, name)
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, word)
		if !ok {
			continue
		}
		if fields := strings.Fields(rest); len(fields) > 0 {
			if n, err := strconv.Atoi(fields[0]); err == nil {
				return n * unit
			}
		}
	}
	return math.MaxInt
}
