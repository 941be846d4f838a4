// Package place finds a golden by its name: the path of a file, or an address. Its input is the
// name, the state folder and the options of the client. Its output is a Place, which opens the
// golden, changes it in one transaction, or replaces it by a new one.
//
// A golden at an address is read from a copy in the state folder. It is replaced there only if
// nobody else has replaced it since. No caller has to know which kind a place is.
//
// It must not know what the outcomes in a golden mean.
package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/files"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/state"
)

// Options say how places at addresses are reached.
type Options struct {
	State  *state.State // has the copies of goldens at addresses
	Client files.ClientOptions
}

// NewOptions returns options with the state folder at a path.
func NewOptions(folder string, client files.ClientOptions) Options {
	return Options{State: state.Open(folder), Client: client}
}

// A Place is where a golden is, or will be. Close it after the goldens that it opened.
type Place interface {
	// Open opens the golden for reading. The error is os.ErrNotExist if no golden is there.
	Open(ctx context.Context) (*golden.Store, error)

	// Update changes the golden in one transaction. It fails if somebody else replaced the golden
	// since the place was found.
	Update(ctx context.Context, do func(*golden.Tx) error) error

	Close()

	// Path returns the file to which a new golden is written that replaces the one at the
	// place. Lock the state folder before writing if InState.
	Path() string

	// InState reports whether Path is in the state folder.
	InState() bool

	// Identify adds to id which golden is replaced. A record that goes on must not replace another.
	Identify(id map[string]string)

	// Reopen makes the file at Path unfinished again if the run finished it, but could not publish
	// it.
	Reopen(run string) error

	// Publish puts the finished file at Path in its place. The error advises to do what again
	// says, if that publishes the file later.
	Publish(ctx context.Context, again string) error

	// prepare refuses a golden that must not be replaced.
	prepare() error
}

// address is the place of a golden at an address. The golden is read from a copy here.
type address struct {
	name  string
	state *state.State
	there *mirror.Place
	copy  *mirror.Copy // nil if nothing is at the address
}

func findAddress(ctx context.Context, name string, o Options) (Place, error) {
	there, err := mirror.New(name, o.State.Cache(), o.Client)
	if err != nil {
		return nil, err
	}
	a := &address{name: name, state: o.State, there: there}
	if err := a.fetch(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// fetch makes a copy of what is at the address, if anything is.
func (a *address) fetch(ctx context.Context) error {
	var err error
	if a.copy, err = a.there.Fetch(ctx); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Open fetches a copy that was damaged here once more.
func (a *address) Open(ctx context.Context) (*golden.Store, error) {
	if a.copy == nil {
		return nil, fault.Inputf("no golden %s: %w", a.name, os.ErrNotExist)
	}
	s, err := golden.Open(a.copy.Path)
	if !a.copy.Fresh && regress.ClassOf(err) == regress.Input {
		a.copy.Drop()
		a.copy = nil
		if err := a.fetch(ctx); err != nil {
			return nil, err
		}
		return a.Open(ctx)
	}
	return s, a.addName(err)
}

// addName adds the address to an error about the copy.
func (a *address) addName(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", a.name, err)
}

// Update changes a copy, which then replaces the golden at the address.
func (a *address) Update(ctx context.Context, do func(*golden.Tx) error) error {
	folder := filepath.Join(a.state.Cache(), "accepting") // the state is locked
	work := filepath.Join(folder, "golden")
	// A journal that a kill left there would be taken for that of the new one.
	err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	defer os.RemoveAll(folder)
	if err == nil {
		err = a.copyTo(work)
	}
	if err != nil {
		return fault.Environmentf("a copy of %s to change: %w", a.name, err)
	}
	if err := golden.Update(work, do); err != nil {
		return err
	}
	err = a.there.Replace(ctx, work, a.copy)
	if errors.Is(err, mirror.ErrChanged) {
		return fault.Inputf("the golden %s was changed by somebody else just now, and nothing of this was accepted: run muster check again, then accept", a.name)
	}
	return err
}

// copyTo copies what is at the address to a file.
func (a *address) copyTo(path string) error {
	if a.copy == nil {
		return os.ErrNotExist
	}
	r, err := os.Open(a.copy.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = w.ReadFrom(r)
	return errors.Join(err, w.Close())
}

func (a *address) Close() {
	if a.copy != nil {
		a.copy.Close()
	}
}

// file is the place of a golden that is a file here.
type file struct{ path string }

func (f file) Open(context.Context) (*golden.Store, error) { return golden.Open(f.path) }

func (f file) Update(_ context.Context, do func(*golden.Tx) error) error {
	return golden.Update(f.path, do)
}

func (f file) Close() {}

func (f file) Path() string { return f.path }

func (f file) InState() bool { return false }

func (f file) Identify(map[string]string) {}

func (f file) Reopen(string) error { return nil }

func (f file) Publish(context.Context, string) error { return nil }

func (f file) prepare() error {
	if f.path == "" {
		return nil
	}
	return golden.CheckReplaceable(f.path)
}

// Find finds the place of that name. It is no error if no golden is there.
func Find(ctx context.Context, name string, o Options) (Place, error) {
	if mirror.IsAddress(name) {
		return findAddress(ctx, name, o)
	}
	return file{name}, nil
}

// FindTarget finds a place whose golden may be replaced, or made.
func FindTarget(ctx context.Context, name string, o Options) (Place, error) {
	t, err := Find(ctx, name, o)
	if err != nil {
		return nil, err
	}
	if err := t.prepare(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (a *address) Path() string {
	return filepath.Join(a.state.Recorded(), a.there.Key()+".golden")
}

func (a *address) InState() bool { return true }

func (a *address) prepare() error {
	if err := a.there.Replaceable(a.copy); err != nil {
		return err
	}
	if err := os.MkdirAll(a.state.Recorded(), 0o755); err != nil {
		return fault.Environmentf("state folder: %w", err)
	}
	if a.copy == nil {
		return nil
	}
	return a.addName(golden.CheckReplaceable(a.copy.Path))
}

func (a *address) Identify(id map[string]string) {
	id["the golden at its address"] = "none"
	if a.copy != nil {
		id["the golden at its address"] = a.copy.Tag()
	}
}

func (a *address) Reopen(run string) error {
	s, err := golden.Open(a.Path())
	if err != nil {
		return nil // the golden is missing or incomplete, so the run continues as usual
	}
	own := s.Meta().Run == run
	if err := s.Close(); err != nil || !own {
		return err
	}
	return golden.Unfinish(a.Path())
}

func (a *address) Publish(ctx context.Context, again string) error {
	err := a.there.Replace(ctx, a.Path(), a.copy)
	switch {
	case errors.Is(err, mirror.ErrChanged):
		return fault.Inputf("the golden %s was changed by somebody else since this began, and stays: this one is kept as %s, and muster diff shows in what they differ: check against theirs, or do this again", a.name, a.Path())
	case err != nil:
		return fmt.Errorf("%w; this one is kept as %s: %s", err, a.Path(), again)
	}
	return nil
}
