// Package load asks a file service for much at the same time, and tells how it answers:
// what succeeded and what did not and why, how long it took, how many threads the server
// had.
//
// Bodies are made and compared in memory. The package must keep no files of its own but a
// server's that it starts itself, and it must not know what is in a server but by asking.
package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"
)

// Op is what is asked for.
type Op string

const (
	Upload   Op = "upload"
	Download Op = "download" // what Upload left; each body is compared
	Exist    Op = "exist"
	Delete   Op = "delete"
	Clean    Op = "clean" // all files below load/
	Bench    Op = "bench" // an echo of 38 bytes
)

// Ops are all there are.
func Ops() []Op { return []Op{Upload, Download, Exist, Delete, Clean, Bench} }

// Protocol is how it is asked for.
type Protocol string

const (
	HTTP     Protocol = "http" // GET, PUT, HEAD and DELETE of /files/NAME
	Protobuf Protocol = "protobuf"
	JSON     Protocol = "json" // the same messages
)

// Protocols are all there are.
func Protocols() []Protocol { return []Protocol{HTTP, Protobuf, JSON} }

// Prefix is what the name of every file begins with that a load makes.
const Prefix = "load/"

// Options of a load.
type Options struct {
	Op       Op
	Protocol Protocol // "" = HTTP

	// URL is where the server is, as http://127.0.0.1:9999; files are below its /files/.
	URL   string
	Token string // that it wants; "" = none

	Connections int // each makes one request after another
	Requests    int // in all: request i concerns file i; Clean has as many as there are files
	Size        int64
	PageSize    int64 // bytes of a file in one message, up to files.PageSizeMax; 0 = 64 KiB

	// Rate is how many requests are due each second, in all; 0 = as many as are answered.
	// Latencies then count from the time when a request was due, so that a server that
	// stalls is seen in those too that would have been made meanwhile.
	Rate float64

	// Timeout is how long a request may take; 0 = a minute.
	Timeout time.Duration

	Threads Threads // where the server's are counted

	// Progress is called some times a second at most, by one goroutine; nil = nobody.
	Progress func(Progress)
}

// Progress is how far a load is.
type Progress struct {
	What         string // of Engines: which load it is
	Done, Failed int64
	Total        int64         // 0 = not known
	Elapsed      time.Duration // since the first request
	Left         time.Duration // < 0 = not known
}

// InputError is a mistake in what was asked for: no request was made.
type InputError struct{ Err error }

func (i *InputError) Error() string { return i.Err.Error() }
func (i *InputError) Unwrap() error { return i.Err }

func inputf(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// UnreachableError is that of a server with which no request succeeded, for there was
// never a connection that lasted.
type UnreachableError struct {
	URL string
	Err error
}

func (u *UnreachableError) Error() string {
	return fmt.Sprintf("the server %s cannot be reached: %v", u.URL, u.Err)
}
func (u *UnreachableError) Unwrap() error { return u.Err }

// Bounds on what can be asked for.
const (
	connectionsMax = 100_000
	requestsMax    = 1_000_000_000
	sizeMax        = 1 << 40
	rateMax        = 10_000_000

	timeoutDefault = time.Minute
	benchSize      = 38
)

// complete returns the options with what holds where nothing is said, if they make sense.
func (o Options) complete() (Options, error) {
	if o.Protocol == "" {
		o.Protocol = HTTP
	}
	if o.Timeout == 0 {
		o.Timeout = timeoutDefault
	}
	if o.Op == Bench {
		o.Size = benchSize
	}
	if o.Op == Clean {
		o.Requests = requestsMax
	}
	at, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return o, &InputError{err}
	case at.Scheme != "http" && at.Scheme != "https" || at.Hostname() == "" || at.RawQuery != "" || at.User != nil:
		return o, inputf("%q is not where a server is: that is written http://127.0.0.1:9999 or https://HOST", o.URL)
	case o.Connections < 1 || o.Connections > connectionsMax:
		return o, inputf("%d connections: from 1 to %d are possible", o.Connections, connectionsMax)
	case o.Requests < 1 || o.Requests > requestsMax:
		return o, inputf("%d requests: from 1 to %d are possible", o.Requests, requestsMax)
	case o.Size < 0 || o.Size > sizeMax:
		return o, inputf("a size of %d bytes: from 0 to %d are possible", o.Size, int64(sizeMax))
	case math.IsNaN(o.Rate) || o.Rate < 0 || o.Rate > rateMax:
		return o, inputf("a rate of %g requests a second: from 0 to %d are possible", o.Rate, rateMax)
	case o.Timeout < 0:
		return o, inputf("a timeout of %v: a time above 0 is wanted, as 30s", o.Timeout)
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return o, inputf("the token has a character that no header can have")
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	o.Connections = min(o.Connections, o.Requests)
	return o, nil
}

// Run makes the requests and waits for them. What was done is in the result also when the
// context ended meanwhile, with the context's error; or where the error is an
// *UnreachableError, if anything was tried at all. That requests failed is no error.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	t, err := newTarget(o)
	if err != nil {
		return nil, err
	}
	if err := t.reach(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &UnreachableError{o.URL, err}
	}
	watch, err := o.Threads.watch(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("the server's threads cannot be counted: %w", err)
	}
	defer watch.end()
	r := newRun(o, t, watch)
	result := r.do(ctx)
	if err := ctx.Err(); err != nil && result.Interrupted {
		return result, err
	}
	if result.Succeeded == 0 && result.Failed > 0 && result.unreached == result.Failed {
		return result, &UnreachableError{o.URL, errors.New(result.Failures[0].Reason)}
	}
	return result, nil
}
