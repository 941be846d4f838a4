package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
)

// LogOptions configures [Log].
type LogOptions struct {
	Logger     string // one of LogFormats
	File       string // log file; must not exist, and is removed
	Lines      int
	Goroutines int  // that log at the same time; 0 = 1
	Buffered   bool // put a bufio.Writer between logger and file, flushed at the end
}

// LogFormats returns the loggers of Log: the handlers of log/slog, and package log.
func LogFormats() []string { return []string{"slog-text", "slog-json", "log"} }

// Log measures lines like those that a server logs about its requests. An unbuffered line
// costs one system call. If Lines is not a multiple of Goroutines, Log omits the remainder.
func Log(o LogOptions) (cost Cost, err error) {
	o.Goroutines = max(1, o.Goroutines)
	if o.Lines < o.Goroutines {
		return Cost{}, errors.New("lines must be 1 or more, and at least as many as goroutines")
	}
	if !slices.Contains(LogFormats(), o.Logger) {
		return Cost{}, fmt.Errorf("unknown logger %q: use one of %q", o.Logger, LogFormats())
	}
	file, err := os.OpenFile(o.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return Cost{}, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(o.File)) }()
	to := &errorWriter{to: file}
	each := o.Lines / o.Goroutines
	cost = measure(each*o.Goroutines, func(int) { o.write(to, each) })
	return cost, to.err
}

// write logs from all goroutines. Loggers write whole lines, one after another, so a buffer
// needs no lock of its own.
func (o *LogOptions) write(file io.Writer, each int) {
	to, flush := file, func() error { return nil }
	if o.Buffered {
		buffer := bufio.NewWriterSize(file, 64<<10)
		to, flush = buffer, buffer.Flush
	}
	line := o.logger(to)
	var all sync.WaitGroup
	for range o.Goroutines {
		all.Go(func() {
			for i := range each {
				line(i)
			}
		})
	}
	all.Wait()
	_ = flush() // errorWriter keeps the error
}

func (o *LogOptions) logger(to io.Writer) func(n int) {
	const operation, took = "upload", 1234
	if o.Logger == "log" {
		l := log.New(to, "", log.LstdFlags|log.Lmicroseconds)
		return func(n int) { l.Printf("request id=%d op=%s us=%d", n, operation, took) }
	}
	var handler slog.Handler = slog.NewTextHandler(to, nil)
	if o.Logger == "slog-json" {
		handler = slog.NewJSONHandler(to, nil)
	}
	l := slog.New(handler)
	return func(n int) { l.Info("request", "id", n, "op", operation, "us", took) }
}

// errorWriter keeps the first write error, which loggers ignore. Loggers make only one
// goroutine write at a time.
type errorWriter struct {
	to  io.Writer
	err error
}

func (c *errorWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// Lock measures pairs of Lock and Unlock of one mutex that the goroutines share. A single
// goroutine meets no contention. If pairs is not a multiple of goroutines, Lock omits the
// remainder.
func Lock(goroutines, pairs int) (Cost, error) {
	if goroutines < 1 || pairs < goroutines {
		return Cost{}, errors.New("goroutines must be 1 or more, and pairs at least as many")
	}
	var mu sync.Mutex
	each, sum := pairs/goroutines, 0
	cost := measure(each*goroutines, func(int) {
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range each {
					mu.Lock()
					sum++
					mu.Unlock()
				}
			})
		}
		all.Wait()
	})
	if sum != cost.N {
		return cost, errors.New("the mutex let several goroutines in at once")
	}
	return cost, nil
}

// WakeUp measures the time until a waiting goroutine continues. Two goroutines pass a token,
// so each pass wakes the other one. With threads each goroutine is locked to a thread of its
// own, which the system must wake.
func WakeUp(passes int, threads bool) (Cost, error) {
	if passes < 2 {
		return Cost{}, errors.New("passes must be 2 or more")
	}
	there, back := make(chan int), make(chan int)
	var both sync.WaitGroup
	rounds := passes / 2
	side := func(do func()) {
		both.Go(func() {
			if threads {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			for range rounds {
				do()
			}
		})
	}
	cost := measure(2*rounds, func(int) {
		side(func() { trivial(<-there); back <- 1 })
		side(func() { there <- 1; trivial(<-back) })
		both.Wait()
	})
	return cost, nil
}
