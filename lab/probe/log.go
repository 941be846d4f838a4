package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
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
