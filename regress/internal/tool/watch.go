package tool

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/name"
)

// Watch looks at the files of a tool while it runs.
type Watch struct {
	id      *Identity
	stop    chan struct{}
	done    chan struct{}
	touched map[string]string // stamps of files that were written to and have their old content
	err     error             // the first change
}

// Watch starts to look at the files, once for each tick. At the first change it calls changed
// and stops. Call End afterwards in any case.
func (id *Identity) Watch(tick <-chan time.Time, changed func(error)) *Watch {
	w := &Watch{id: id, stop: make(chan struct{}), done: make(chan struct{}), touched: map[string]string{}}
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

// End looks a last time. It returns the files that were written to and have their old content
// again. The first change is an error of class Environment.
func (w *Watch) End() (touched []string, err error) {
	close(w.stop)
	<-w.done
	w.look()
	for f := range w.id.Files() {
		if w.touched[f.Path] != "" {
			touched = append(touched, f.Path)
		}
	}
	return touched, w.err
}

// Changed looks once. A change is an error of class Environment.
func (id *Identity) Changed() error {
	w := &Watch{id: id, touched: map[string]string{}}
	w.look()
	return w.err
}

func (w *Watch) look() {
	if w.err != nil || w.id == nil {
		return
	}
	for _, f := range w.id.files {
		if w.err = w.lookAt(f); w.err != nil {
			return
		}
	}
	for _, file := range w.id.absent {
		if info, err := os.Stat(file); isFile(info, err) && info.Mode()&0o111 != 0 {
			w.err = fault.Environmentf("%s appeared in PATH while the tool ran, before the file that was used: run again", name.Print(file))
			return
		}
	}
}

// lookAt returns an error if a file changed. It reads the content only if the stamp changed.
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
	stamp := filestamp.Of(info)
	if stamp == f.Stamp || stamp == w.touched[f.Path] {
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
	return fault.Environmentf("%s, a file of the tool, changed while it ran (%s): run again when nothing writes to it, or leave it out by --no-tool-file", name.Print(path), how)
}
