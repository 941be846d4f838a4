package closure

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/name"
)

// Watch looks at what a tool uses while it runs.
type Watch struct {
	stop    chan struct{}
	done    chan struct{}
	touched map[string]string // states of files that were written to and have their old content, and of relisted folders
	err     error             // the first change
	isLast  bool              // files whose stamps prove nothing are read

	mu sync.Mutex
	c  *Closure
}

// Watch starts to look at the files and places, once for each tick. At the first change it calls
// changed and stops. Call End afterwards in any case.
func (c *Closure) Watch(tick <-chan time.Time, changed func(error)) *Watch {
	w := &Watch{c: c, stop: make(chan struct{}), done: make(chan struct{}), touched: map[string]string{}}
	go func() {
		defer close(w.done)
		for {
			select {
			case <-w.stop:
				return
			case <-tick:
			}
			if w.look(); w.err != nil {
				changed(w.err)
				return
			}
		}
	}()
	return w
}

// Set makes the watch look at another closure. Any goroutine may call it before End.
func (w *Watch) Set(c *Closure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.c = c
}

func (w *Watch) closure() *Closure {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.c
}

// End looks a last time. It returns the files that were written to and have their old content again, and
// the listed folders with other names. A file whose mode or number of links changed was not written to. The
// first change of another kind is an error of class Environment: whether names matter to the tool is not
// known.
func (w *Watch) End() (touched, relisted []string, err error) {
	close(w.stop)
	<-w.done
	w.isLast = true
	w.look()
	for f := range w.closure().All() {
		if stamp := w.touched[f.Path]; stamp != "" && !areAlike(stamp, f.Stamp) {
			touched = append(touched, f.Path)
		}
	}
	for _, p := range w.closure().places() {
		if w.touched[p.Path] != "" {
			relisted = append(relisted, p.Path)
		}
	}
	return touched, relisted, w.err
}

// Changed looks once. A change is an error of class Environment.
func (c *Closure) Changed() error {
	w := &Watch{c: c, touched: map[string]string{}}
	w.look()
	return w.err
}

func (w *Watch) look() {
	c := w.closure()
	if w.err != nil || c == nil {
		return
	}
	for _, f := range c.Files {
		if w.err = w.lookAt(f); w.err != nil {
			return
		}
	}
	for _, p := range c.Places {
		if p.IsWritten {
			continue
		}
		now := c.Own.StateOf(p.Path, p.IsListed)
		if now == p.State {
			continue
		}
		how := DescribeMove(p.State, now)
		if how != otherNames {
			w.err = changedError(p.Path, how)
			return
		}
		w.touched[p.Path] = now
	}
}

const (
	otherNames = "the names in it changed"
	appeared   = "the tool looks for it, and it appeared"
)

// DescribeMove says how a place went from one state to another.
func DescribeMove(was, now string) string {
	switch {
	case was == absent && !strings.HasPrefix(now, absent):
		return appeared
	case now == absent:
		return "it is gone"
	case strings.HasPrefix(was, folder+" ") && strings.HasPrefix(now, folder+" "):
		return otherNames
	}
	return "it is another file, folder or link"
}

// lookAt returns an error if a file changed. It reads the content if the stamp changed, and at the end if
// the stamp cannot be trusted.
func (w *Watch) lookAt(f File) error {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Role == Executable:
		return nil // the cases that could not start it have failed already
	case errors.Is(err, fs.ErrNotExist):
		return changedError(f.Path, "it is gone")
	case err != nil:
		return fault.Environmentf("%s, a file of the tool: %w", name.Print(f.Path), fault.Reason(err))
	case !info.Mode().IsRegular():
		return changedError(f.Path, "it is no longer a file")
	}
	stamp := filestamp.At(f.Path, info)
	if (stamp == f.Stamp || stamp == w.touched[f.Path]) && (f.IsTrusted || !w.isLast) {
		return nil
	}
	digest, err := filedigest.Open("").Of(f.Path, fileBytesMax)
	if err != nil || digest.Hash != f.Digest {
		return changedError(f.Path, "its content changed")
	}
	w.touched[f.Path] = digest.Stamp
	return nil
}

func changedError(path, how string) error {
	if how == appeared {
		how += "; leave it out if the tool itself makes it"
	}
	return fault.Environmentf("%s, a file of the tool, changed while it ran (%s): run again when nothing writes to it, or leave it out by --no-tool-file", name.Print(path), how)
}
