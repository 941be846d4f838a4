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
}

// A Target is a place whose golden will be replaced by a new one.
type Target interface {
	Place

	// Path returns the file that the new golden is written to. Lock the state folder before
	// writing if InState.
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
