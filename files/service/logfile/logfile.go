// Package logfile writes a log that nobody waits for: whoever logs hands a line over, and
// where the disk does not keep up, lines are lost and counted. A file that has its number
// of lines is put aside, and the oldest ones are removed. It must not know who logs what.
package logfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// Options of a log.
type Options struct {
	// File is where it is written, at the end of what is there; "" = to Writer.
	File   string
	Writer io.Writer

	// LinesMax is how many lines a file has before it is put aside; 0 = no limit. A file
	// that is continued counts from here.
	LinesMax int

	Level slog.Level
}

// Kept is how many files are kept beside the one that is written: FILE.1 is the newest.
const Kept = 9

// waitingMax is how many lines wait for the disk before more are lost.
const waitingMax = 4096

// Log is a logger of JSON lines. Any number of goroutines may use it. What is logged after
// Close is lost: a server's connections may have something to say still.
type Log struct {
	*slog.Logger
	options Options

	lines chan []byte
	lost  atomic.Int64
	end   chan struct{} // closed: nothing more comes
	ended sync.WaitGroup

	// What the writing goroutine alone has.
	out   io.Writer
	file  *os.File // nil = not a file
	plain bool     // and not a device or a pipe, as /dev/null, which is not put aside
	count int      // lines in it
	err   error    // of writing, the first one
}

// Open opens a log.
func Open(o Options) (*Log, error) {
	l := &Log{options: o, lines: make(chan []byte, waitingMax), end: make(chan struct{}), out: o.Writer}
	if o.File != "" {
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	l.Logger = slog.New(slog.NewJSONHandler(handOver{l}, &slog.HandlerOptions{Level: o.Level}))
	l.ended.Go(l.run)
	return l, nil
}

// handOver takes the lines of a handler, one in each call.
type handOver struct{ log *Log }

func (h handOver) Write(line []byte) (int, error) {
	select {
	case h.log.lines <- append([]byte(nil), line...):
	default:
		h.log.lost.Add(1)
	}
	return len(line), nil
}

// Close writes what waits. It returns the first error of writing, for nobody was told of it.
func (l *Log) Close() error {
	close(l.end)
	l.ended.Wait()
	if l.file != nil {
		l.note(l.file.Close())
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

// writeCounted writes a line, and how many were lost before it.
func (l *Log) writeCounted(line []byte) {
	l.write(line)
	if n := l.lost.Swap(0); n > 0 {
		l.write(fmt.Appendf(nil, `{"level":"WARN","msg":"lines of the log were lost, for the disk did not keep up","lines":%d}`+"\n", n))
	}
}

func (l *Log) write(line []byte) {
	if l.plain && l.options.LinesMax > 0 && l.count >= l.options.LinesMax {
		l.note(l.rotate())
	}
	_, err := l.out.Write(line)
	l.note(err)
	l.count++
}

// note keeps an error. The next line is tried all the same: a disk does not stay full.
func (l *Log) note(err error) {
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

// rotate puts the file aside and begins another one. Where that fails the old one goes on.
func (l *Log) rotate() error {
	l.count = 0 // not again for the next line
	for n := Kept - 1; n >= 0; n-- {
		if err := os.Rename(l.numbered(n), l.numbered(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	old := l.file
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

func (l *Log) numbered(n int) string {
	if n == 0 {
		return l.options.File
	}
	return l.options.File + "." + strconv.Itoa(n)
}
