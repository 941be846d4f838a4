package client

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/google/uuid"
)

// Options have the address of the engine, and the client's identity and patience. Only URL is
// required.
type Options struct {
	URL      string // grpc://HOST:PORT, or grpcs://HOST[:PORT] with TLS
	Instance string
	Headers  []Header // sent with every request
	// Token is sent with every request, as "Authorization: Bearer TOKEN"; "" = none.
	Token string
	// PlainToken allows the token over grpc:// to other machines too, for networks with their
	// own encryption.
	PlainToken bool
	CA         string // PEM file with trusted certificates, instead of the system's
	Cert, Key  string // PEM files with the client's own certificate and its key

	Version    string // version of this program, for the engine's records
	Invocation string // ID that all requests of one run share
	Priority   int32  // of executions; 0 is the engine's default
	Jobs       int    // executions at once; the client opens enough connections

	Deadline         time.Duration // of a request, and of a stream without progress
	ExecutionTimeout time.Duration // of one execution, including its wait for a worker
	// Silence is the time after which the client asks for a silent execution by its name. If it
	// has no name, although the engine names executions at once, the client requests it anew,
	// after Wait at the earliest.
	Silence time.Duration
	// Wait is the patience with an engine that is away or busy, from the first failure of a
	// request. If it is not set, a wrong address is detected within a second.
	Wait       time.Duration
	Attempts   int           // attempts in a row at one request; 0 = as many as fit into Wait
	Backoff    time.Duration // pause before the second attempt; it grows up to BackoffMax
	BackoffMax time.Duration
	Remember   int // number of contents that the client remembers as present, at 64 bytes each

	// Note receives, from any goroutine, a note that muster waits for the engine, and that the
	// engine is back.
	Note func(string)

	// Hooks for tests: how to wait, and how to reach an address.
	Sleep  func(context.Context, time.Duration) error
	Dialer func(ctx context.Context, address string) (net.Conn, error)
}

// Header is a further header of every request.
type Header struct{ Name, Value string }

// withDefaults fills the fields that are not set. The default of Wait is the time in which a
// server restarts.
func (o Options) withDefaults() Options {
	o.Version = cmp.Or(o.Version, "devel")
	o.Invocation = cmp.Or(o.Invocation, uuid.NewString())
	o.Jobs = max(o.Jobs, 1)
	o.Deadline = cmp.Or(o.Deadline, time.Minute)
	o.ExecutionTimeout = cmp.Or(o.ExecutionTimeout, time.Hour)
	o.Silence = cmp.Or(o.Silence, time.Minute)
	o.Wait = cmp.Or(o.Wait, 30*time.Second)
	o.Backoff = cmp.Or(o.Backoff, 100*time.Millisecond)
	o.BackoffMax = cmp.Or(o.BackoffMax, 5*time.Second)
	o.Attempts = cmp.Or(o.Attempts, o.attempts())
	o.Remember = cmp.Or(o.Remember, 1<<19)
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

// attempts returns how many attempts fit into Wait, with the shortest pauses between them.
func (o Options) attempts() int {
	n := 2
	for sum, next := time.Duration(0), o.Backoff; sum < o.Wait; next = min(2*next, o.BackoffMax) {
		sum += next / 2
		n++
	}
	return n
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
