package cached

import (
	"context"
	"log/slog"

	"muster/fileio"
)

// Origin is a store of files: the one that is read through copies, or the one of the copies.
type Origin interface {
	fileio.Files
	Stats() fileio.Stats
	Check(ctx context.Context) error
	Close() error
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

// Folder begins the names of all copies.
const Folder = "copies/"
