// Package place finds a golden by its name: the path of a file, or an address. Its input is the
// name, the state folder and the options of the client. Its output is a Place, which opens the
// golden, changes it in one transaction, or replaces it by a new one.
//
// An address is one of a file server, or of an object store. A golden there is read from a copy in the state
// folder. It is replaced only if nobody else has replaced it since. No caller has to know which kind a place is.
//
// It must not know what the outcomes in a golden mean.
package place

import (
	"context"

	"muster/files"
	"muster/regress/internal/golden"
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

	// Path returns the file for a new golden, which Publish puts at the place. Lock the state
	// folder before writing if InState.
	Path() string

	// InState reports whether Path is in the state folder.
	InState() bool

	// Identify adds to id which golden is replaced. A record that goes on must not replace another.
	Identify(id map[string]string)

	// Reopen makes the file at Path unfinished again if the run finished it, but could not publish
	// it.
	Reopen(run string) error

	// Publish puts the finished file at Path at the place. again tells the user how to publish it
	// later, for errors that allow that.
	Publish(ctx context.Context, again string) error

	// prepare refuses a golden that must not be replaced.
	prepare() error
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
	if !IsAddress(name) {
		return file{name}, nil
	}
	a, err := newAddress(name, o)
	if err == nil {
		err = a.fetch(ctx)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
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
