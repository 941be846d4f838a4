package cached

import (
	"context"
	"log/slog"
	"time"

	"muster/fileio"
)

// Origin is the store of the files.
type Origin interface {
	fileio.Files
	Stats() fileio.Stats
	Check(ctx context.Context) error
	Close() error
}

// Copies is the store of the copies. GetCached is documented in fileio.Store.
type Copies interface {
	Origin
	GetCached(ctx context.Context, name string) (*fileio.File, error)
}

// Options of a Store.
type Options struct {
	// Name distinguishes the origin from others whose files were copied to the same place.
	Name string
	// Max is how many bytes the copies may take. Of a file larger than a quarter, only the first
	// piece is copied.
	Max int64
	// Boot identifies the time since the machine's start; "" = ask the system.
	Boot string
	// Log receives warnings; nil = no log.
	Log *slog.Logger
}

// MaxLeast is the smallest Max that a server should accept: room for a few dozen pieces.
const MaxLeast = 16 << 20

// patience is how long an operation on copies may take.
const patience = 3 * time.Second

// Folder begins the names of all copies.
const Folder = "copies/"

// closeFile closes a file that was only read, if there is one.
func closeFile(f *fileio.File) {
	if f != nil {
		_ = f.Close()
	}
}
