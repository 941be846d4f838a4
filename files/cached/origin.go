package cached

import (
	"context"
	"log/slog"

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
	// Max is how many bytes the copies may take. A file larger than a quarter has no copy.
	Max int64
	// Log receives warnings; nil = no log.
	Log *slog.Logger
}

// MaxLeast is the smallest Max that a server should accept: a file of 4 MiB has a copy then.
const MaxLeast = 16 << 20

// Folder begins the names of all copies.
const Folder = "copies/"
