// Package logfile writes a log that never blocks its callers. If the disk is too slow, lines
// are lost and counted. A file that has reached its number of lines is renamed, and the oldest
// files are removed. The package must not know who logs what.
package logfile

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"muster/internal/realpath"
)

// Options configure a log.
type Options struct {
	// File is the log file, to which lines are appended; "" = write to Writer.
	File   string
	Writer io.Writer

	// LinesMax is how many lines a file gets before it is renamed; 0 = no limit. Existing
	// lines of a continued file do not count.
	LinesMax int

	Level slog.Level
	Text  bool // lines for people instead of JSON
}

// Kept is how many old files are kept: FILE.1 is the newest.
const Kept = 9

// waitingMax is how many lines may wait for the disk. Further lines are lost.
const waitingMax = 4096

// Log is a logger. Any number of goroutines may use it. Lines logged after Close
// are lost, because a server's connections may still log then.
type Log struct {
	*slog.Logger
	options Options

	lines chan []byte
	lost  atomic.Int64
	end   chan struct{} // closed by Close
	ended sync.WaitGroup

	// Only the writing goroutine uses the following fields.
	out   io.Writer
	file  *os.File // nil = not a file
	plain bool     // a regular file; devices and pipes are not renamed
	count int      // lines in the file
	err   error    // the first error of writing
	own   *slog.Logger
}

// Open opens a log.
func Open(o Options) (*Log, error) {
	l := &Log{options: o, lines: make(chan []byte, waitingMax), end: make(chan struct{}), out: o.Writer}
	if o.File != "" {
		var err error
		if l.options.File, err = realpath.Of(o.File); err != nil { // rotate must not rename a link
			return nil, err
		}
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	l.Logger, l.own = slog.New(o.handler(lineQueue{l})), slog.New(o.handler(lineWriter{l}))
	l.ended.Go(l.run)
	return l, nil
}

// handler returns a handler that writes each line in one call.
func (o Options) handler(w io.Writer) slog.Handler {
	if !o.Text {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: o.Level})
	}
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: o.Level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			a.Value = slog.StringValue(a.Value.Time().Format(time.TimeOnly))
		}
		return a
	}})
}

// lineQueue queues the lines of a handler, one per call.
type lineQueue struct{ log *Log }

func (h lineQueue) Write(line []byte) (int, error) {
	select {
	case h.log.lines <- append([]byte(nil), line...):
	default:
		h.log.lost.Add(1)
	}
	return len(line), nil
}

// lineWriter writes the lines of a handler at once. Only the writing goroutine may use it.
type lineWriter struct{ log *Log }

func (h lineWriter) Write(line []byte) (int, error) {
	h.log.write(line)
	return len(line), nil
}

// Close writes the queued lines. It returns the first error of writing, which was not reported
// before.
func (l *Log) Close() error {
	close(l.end)
	l.ended.Wait()
	if l.file != nil {
		l.recordError(l.file.Close())
	}
	return l.err
}

func (l *Log) run() {
	for {
		select {
		case line := <-l.lines:
			l.writeCounted(line)
		case <-l.end:
			for {
				select {
				case line := <-l.lines:
					l.writeCounted(line)
				default:
					return
				}
			}
		}
	}
}

// writeCounted writes a line, and then how many lines were lost before it.
func (l *Log) writeCounted(line []byte) {
	l.write(line)
	if n := l.lost.Swap(0); n > 0 {
		l.own.Warn("log lines were lost because the disk was too slow", "lines", n)
	}
}

func (l *Log) write(line []byte) {
	if l.plain && l.options.LinesMax > 0 && l.count >= l.options.LinesMax {
		l.recordError(l.rotate())
	}
	_, err := l.out.Write(line)
	l.recordError(err)
	l.count++
}

// recordError keeps the first error. Writing continues, because a disk may have room again
// later.
func (l *Log) recordError(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *Log) open() error {
	file, err := os.OpenFile(l.options.File, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	l.file, l.out, l.count = file, file, 0
	info, err := file.Stat()
	l.plain = err == nil && info.Mode().IsRegular()
	return nil
}

// rotate renames the file and opens a new one. If that fails, writing to the old file
// continues.
func (l *Log) rotate() error {
	l.count = 0 // do not retry for the next line
	for n := Kept - 1; n >= 0; n-- {
		if err := os.Rename(l.pathOf(n), l.pathOf(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	old := l.file
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

func (l *Log) pathOf(n int) string {
	if n == 0 {
		return l.options.File
	}
	return l.options.File + "." + strconv.Itoa(n)
}
