package closure

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"muster/regress"
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
	change  *Change           // the first one
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
			if w.look(); w.change != nil {
				changed(w.change)
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
// the listed folders with other names. A file whose mode or number of links changed was not written to. It
// also returns the first change, or nil. Changed names are not a change, because they may not matter to the tool.
func (w *Watch) End() (touched, relisted []string, change *Change) {
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
	return touched, relisted, w.change
}

// Changed looks once. A change is an error of class Environment.
func (c *Closure) Changed() error {
	w := &Watch{c: c, touched: map[string]string{}}
	if w.look(); w.change != nil {
		return w.change
	}
	return nil
}

func (w *Watch) look() {
	c := w.closure()
	if w.change != nil || c == nil {
		return
	}
	for _, f := range c.Files {
		if w.change = w.lookAt(f); w.change != nil {
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
		how := describeMove(p.State, now)
		if how != otherNames {
			w.change = &Change{p.Path, how}
			return
		}
		w.touched[p.Path] = now
	}
}

const (
	otherNames = "the names in it changed"
	appeared   = "the tool looks for it, and it appeared"
)

// describeMove says how a place went from one state to another.
func describeMove(was, now string) string {
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

// lookAt returns how a file changed, or nil. It reads the content if the stamp changed, and at the end if the
// stamp cannot be trusted.
func (w *Watch) lookAt(f File) *Change {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Role == Executable:
		return nil // the cases that could not start it have failed already
	case errors.Is(err, fs.ErrNotExist):
		return &Change{f.Path, "the file is gone"}
	case err != nil:
		return &Change{f.Path, fault.Reason(err).Error()}
	case !info.Mode().IsRegular():
		return &Change{f.Path, "it is no longer a file"}
	}
	stamp := filestamp.At(f.Path, info)
	if stamp == f.Stamp && (f.IsTrusted || !w.isLast) || stamp == w.touched[f.Path] && !w.isLast {
		return nil
	}
	digest, err := filedigest.Open("").Of(f.Path, fileBytesMax)
	if err != nil || digest.Hash != f.Digest {
		return &Change{f.Path, "its content changed"}
	}
	w.touched[f.Path] = digest.Stamp
	return nil
}

// A Change is a change of a file or a place of the tool while cases ran. It is an error of class
// Environment.
type Change struct {
	Path string
	How  string
}

// Error says what to do if the run ends.
func (c *Change) Error() string {
	return c.What() + ": run again when nothing writes to the file, or leave the file out with --no-tool-file"
}

// What names the file and says how it changed.
func (c *Change) What() string {
	how := c.How
	if how == appeared {
		how += "; leave it out if the tool itself makes it"
	}
	return name.Print(c.Path) + ", a file of the tool, changed while cases ran (" + how + ")"
}

// Class implements regress.Classified.
func (c *Change) Class() regress.Class { return regress.Environment }
