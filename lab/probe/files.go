package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"muster/lab/results"
	"muster/pool"
)

// Files measures operations on whole files with Go's package os, one step after another. Each
// operation keeps a thread while it runs. Nothing is flushed: writes end in the system's cache,
// and reads come from it if it is large enough.
type Files struct {
	Files   int
	Size    int // of each file, in bytes
	Workers int // files at the same time
}

func (o Files) measure(in Input) (results.Sample, error) {
	s := results.Sample{N: o.Files}
	if err := requireEmpty(in.dir); err != nil {
		return s, err
	}
	// Names, contents and buffers are made before the clock starts.
	content, buffers := fileContent(o.Size), make(chan []byte, o.Workers)
	for range o.Workers {
		buffers <- make([]byte, o.Size)
	}
	numbers, names, others := make([]int, o.Files), make([]string, o.Files), make([]string, o.Files)
	for i := range numbers {
		numbers[i], names[i] = i, filepath.Join(in.dir, fmt.Sprintf("%08d", i))
		others[i] = names[i] + ".renamed"
	}
	for _, step := range []struct {
		unit string
		do   func(n int) error
	}{
		{results.CreatePerOp, func(n int) error {
			file, err := os.OpenFile(names[n], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return err
			}
			_, err = file.Write(content)
			return errors.Join(err, file.Close())
		}},
		{results.ReadPerOp, func(n int) error {
			file, err := os.Open(names[n])
			if err != nil {
				return err
			}
			buffer := <-buffers
			_, err = io.ReadFull(file, buffer)
			buffers <- buffer
			return errors.Join(err, file.Close())
		}},
		{results.StatPerOp, func(n int) error { _, err := os.Stat(names[n]); return err }},
		{results.RenamePerOp, func(n int) error { return os.Rename(names[n], others[n]) }},
		{results.RemovePerOp, func(n int) error { return os.Remove(others[n]) }},
	} {
		c, err := measureEach(o.Files, func(int) error {
			return pool.ForEach(in.ctx, o.Workers, numbers, func(_ context.Context, n int) error { return step.do(n) })
		})
		if err != nil {
			return s, err
		}
		s.Values = append(s.Values, value(step.unit, float64(c.wall)/float64(c.n)))
	}
	return s, nil
}

// fileContent returns the content of files of the given size.
func fileContent(size int) []byte {
	c := make([]byte, size)
	for i := range c {
		c[i] = byte(i * 7)
	}
	return c
}

// Rename measures the renaming of empty files into one or several folders. The cost excludes
// their creation.
type Rename struct {
	Files   int
	Folders int // target folders, used in turn
}

// renamePortion is the number of files that are created, and then renamed, at a time. The
// source folder stays small, and only the target folders grow.
const renamePortion = 1_000

func (o Rename) measure(in Input) (s results.Sample, err error) {
	if err := requireEmpty(in.dir); err != nil {
		return s, err
	}
	from := filepath.Join(in.dir, "new")
	folders := make([]string, o.Folders)
	for i := range folders {
		folders[i] = filepath.Join(in.dir, fmt.Sprintf("%04d", i))
	}
	for _, dir := range append(folders, from) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return s, err
		}
	}
	var all cost
	for first := 0; first < o.Files && in.ctx.Err() == nil; first += renamePortion {
		n := min(renamePortion, o.Files-first)
		old, renamed := make([]string, n), make([]string, n)
		for i := range n {
			name := fmt.Sprintf("%08d", first+i)
			old[i], renamed[i] = filepath.Join(from, name), filepath.Join(folders[(first+i)%o.Folders], name)
			if err := os.WriteFile(old[i], nil, 0o600); err != nil {
				return s, err
			}
		}
		c, err := measureEach(n, func(n int) (err error) {
			for i := 0; i < n && err == nil; i++ {
				err = os.Rename(old[i], renamed[i])
			}
			return err
		})
		if err != nil {
			return s, err
		}
		all = cost{all.n + c.n, all.wall + c.wall, all.cpu + c.cpu}
	}
	return all.sample(), in.ctx.Err()
}

// Log measures lines like those that a server logs about its requests. An unbuffered line
// costs one system call. If Lines is not a multiple of Goroutines, the remainder is left out.
type Log struct {
	Logger     string // one of LogFormats
	Lines      int
	Goroutines int  // that log at the same time
	Buffered   bool // put a bufio.Writer between logger and file, flushed at the end
}

// LogFormats returns the loggers of Log: the handlers of log/slog, and package log.
func LogFormats() []string { return []string{"slog-text", "slog-json", "log"} }

func (o Log) measure(in Input) (s results.Sample, err error) {
	if !slices.Contains(LogFormats(), o.Logger) {
		return s, fmt.Errorf("unknown logger %q", o.Logger)
	}
	file, err := os.OpenFile(filepath.Join(in.dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return s, err
	}
	defer file.Close()
	to := &errorWriter{to: file}
	each := o.Lines / o.Goroutines
	return measure(each*o.Goroutines, func(int) { o.write(to, each) }).sample(), to.err
}

// write logs from all goroutines. Loggers write whole lines, one after another, so a buffer
// needs no lock of its own.
func (o Log) write(file io.Writer, each int) {
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

func (o Log) logger(to io.Writer) func(n int) {
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
