package client

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/google/uuid"
)

// Options says where the engine is, who asks, and how patiently. All but URL may be left
// out.
type Options struct {
	URL      string // grpc://HOST:PORT, or grpcs://HOST[:PORT] with TLS
	Instance string
	Headers  []Header // sent with every request
	// Token is sent with every request, as "Authorization: Bearer TOKEN"; "" = nothing.
	Token string
	// PlainToken sends the token over grpc:// to other machines as well, for networks that
	// encrypt by themselves.
	PlainToken bool
	CA         string // file with the certificates (PEM) to trust in place of the system's
	Cert, Key  string // files with the client's own certificate and its key (PEM)

	Version    string // of this program, for the engine's records
	Invocation string // what all requests of one run have in common
	Priority   int32  // of executions; 0 is the engine's usual
	Jobs       int    // executions at once, for as many connections as they need

	Deadline         time.Duration // of a request, and of a stream that does not move
	ExecutionTimeout time.Duration // of one execution with its wait for a worker
	// Silence is after how long a silent execution is asked for again by its name; or, where it
	// has none though the engine names others at once, made anew, then after Wait at least.
	Silence time.Duration
	// Wait is for an engine that is away or busy, from the first failure of a request. Where
	// nobody sets it, a wrong address is known within a second.
	Wait       time.Duration
	Attempts   int           // of one request, in a row; 0 = as many as fit into Wait
	Backoff    time.Duration // before the second attempt; it grows up to BackoffMax
	BackoffMax time.Duration
	Remember   int // how many contents are known to be there, at 64 bytes each

	// Note hears, from any goroutine, that the engine is waited for, and that it is back.
	Note func(string)

	// Seams for tests: how to wait, and how to reach an address.
	Sleep  func(context.Context, time.Duration) error
	Dialer func(ctx context.Context, address string) (net.Conn, error)
}

// Header is one more line that goes with every request.
type Header struct{ Name, Value string }

// withDefaults is o with what it leaves out. Wait is as long as a server takes to restart.
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

// attempts is how many fit into Wait at the least that is between them.
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
