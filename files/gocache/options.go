package gocache

import (
	"time"

	"muster/files"
)

// Options of a cache.
type Options struct {
	// URL is the folder of the cache at a server, such as http://HOST:9999/files/gocache.
	URL    string
	Client *files.Client

	// Dir is the local folder. It is created if necessary.
	Dir string

	// LocalMax is how many bytes of files remain in Dir when no go command uses it. The server's
	// files that are larger are not taken.
	LocalMax int64

	// Timeout is how long the server may take for an answer. The content of an answer may take
	// longer, at 256 KiB a second. Files that are not sent within this time after a build are
	// not sent.
	Timeout time.Duration

	// Warn is called at most once, with the reason why the server is left out or refuses files.
	Warn func(error)
}

// TimeoutDefault is the timeout of most uses.
const TimeoutDefault = 10 * time.Second

// LocalMaxDefault is the bound on the local folder in most uses, in bytes.
const LocalMaxDefault = 10 << 30

// Bounds on what is done and held at a time.
const (
	requestsMax = 64       // gets that are answered at the same time
	sendersMax  = 8        // files that are sent at the same time
	queueMax    = 16 << 10 // outputs that wait to be sent; further ones are not sent
)

// An output is a file in the local folder that an action has made.
type output struct {
	action digest
	record record
}
