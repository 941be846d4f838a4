// Package load sends a file service many requests at the same time and reports the answers:
// successes, failures with reasons, latencies, and the server's threads.
//
// Bodies are generated and compared in memory. The package must not store files, except those
// of a server that it starts. It must not know a server's content except by requests.
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"muster/files"
	"muster/internal/readable"
)

// Op is the kind of requests.
type Op string

const (
	Upload   Op = "upload"
	Download Op = "download" // read the files of Upload and compare each body
	Exist    Op = "exist"
	Delete   Op = "delete"
	Clean    Op = "clean" // all files below load/
	Bench    Op = "bench" // an echo of 38 bytes
)

// Ops returns all operations.
func Ops() []Op { return []Op{Upload, Download, Exist, Delete, Clean, Bench} }

// Protocol is how requests are made.
type Protocol string

const (
	HTTP     Protocol = "http" // GET, PUT, HEAD and DELETE of /files/NAME
	Protobuf Protocol = "protobuf"
	JSON     Protocol = "json" // the same messages
)

// Protocols returns all protocols.
func Protocols() []Protocol { return []Protocol{HTTP, Protobuf, JSON} }

// Prefix begins the name of every file that a load creates.
const Prefix = "load/"

// Options configure a load.
type Options struct {
	Op       Op
	Protocol Protocol // "" = HTTP

	// URL is the server's address, such as http://127.0.0.1:9999. Files are below its /files/.
	URL   string
	Token string // the server's token; "" = no token

	Connections int // each makes one request after another
	Requests    int // in total: request i concerns file i; Clean makes one

	// Duration repeats the Requests, in the same order, for that long. The requests that run
	// then are completed. With a rate, all requests that are due within Duration are made. 0 =
	// the Requests are made once. Not for Delete and Clean, which find no file a second time.
	Duration time.Duration

	Size     int64
	PageSize int64 // bytes of a file in one message, up to files.PageSizeMax; 0 = 64 KiB

	// Rate is how many requests are due each second in total; 0 = each follows an answer. With
	// a rate, latencies count from the time when a request was due. So a stalled server also
	// shows in the requests that were due meanwhile.
	Rate float64

	// Timeout is how long a request may take; 0 = a minute.
	Timeout time.Duration

	Threads Threads // where the server's threads are counted

	// Progress is called a few times a second, by one goroutine; nil = not called.
	Progress func(Progress)
}

// Progress is the progress of a load.
type Progress struct {
	What         string // names the load, in Engines
	Done, Failed int64
	Total        int64         // 0 = not known
	Elapsed      time.Duration // since the first request
	Duration     time.Duration // of the load; 0 = not known
	Left         time.Duration // < 0 = not known
	Last         Interval      // the last interval
}

// InputError is an error in the options: no request was made.
type InputError struct{ Err error }

func (i *InputError) Error() string { return i.Err.Error() }
func (i *InputError) Unwrap() error { return i.Err }

func inputf(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// UnreachableError is the error of a load without a successful request, because no connection
// lasted.
type UnreachableError struct {
	URL string
	Err error
}

func (u *UnreachableError) Error() string {
	return fmt.Sprintf("the server %s cannot be reached: %s", u.URL, reasonOf(u.Err))
}
func (u *UnreachableError) Unwrap() error { return u.Err }

// Bounds on Options.
const (
	connectionsMax = 100_000
	requestsMax    = 1_000_000_000
	sizeMax        = 1 << 40
	rateMax        = 10_000_000
	dueMax         = float64(100 * 365 * 24 * time.Hour) // a later time may overflow

	timeoutDefault = time.Minute
	benchSize      = 38
)

// complete checks the options and returns them with defaults.
func (o Options) complete() (Options, error) {
	o.Protocol = cmp.Or(o.Protocol, HTTP)
	o.Timeout = cmp.Or(o.Timeout, timeoutDefault)
	if o.Op == Bench {
		o.Size = benchSize
	}
	if o.Op == Clean {
		o.Requests = 1 // for all files
	}
	repeats := o.Duration > 0
	at, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return o, &InputError{err}
	case files.CheckAddress(at) != nil:
		return o, &InputError{files.CheckAddress(at)}
	case at.User != nil:
		return o, inputf("the address of %s must not have a user: leave it out", at.Host)
	case at.RawQuery != "":
		return o, inputf("%q is not the address of a server: write http://127.0.0.1:9999 or https://HOST", o.URL)
	case o.Connections < 1 || o.Connections > connectionsMax:
		return o, inputf("%s: from 1 to %s are possible", readable.Count(o.Connections, "connection"), readable.Number(connectionsMax))
	case o.Requests < 1 || o.Requests > requestsMax:
		return o, inputf("%s: from 1 to %s are possible", readable.Count(o.Requests, "request"), readable.Number(requestsMax))
	case o.Size < 0 || o.Size > sizeMax:
		return o, inputf("a size of %s: from 0 to %s are possible", readable.BinarySize(o.Size), readable.BinarySize(sizeMax))
	case math.IsNaN(o.Rate) || o.Rate < 0 || o.Rate > rateMax:
		return o, inputf("a rate of %g requests a second: from 0 to %s are possible", o.Rate, readable.Number(int64(rateMax)))
	case o.Duration < 0:
		return o, inputf("a duration of %v: use a time above 0, such as 30s", o.Duration)
	case repeats && (o.Op == Delete || o.Op == Clean):
		return o, inputf("%s cannot go on for a duration, because each file can be deleted only once: leave the duration out", o.Op)
	case o.Timeout < 0:
		return o, inputf("a timeout of %v: use a time above 0, such as 30s", o.Timeout)
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return o, inputf("the token has a character that no header can have")
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	if !repeats {
		o.Connections = min(o.Connections, o.Requests)
	}
	return o, nil
}

// Run makes the requests and waits for them. If the context ends, Run returns its error
// together with the partial result. With an *UnreachableError it returns a result if any
// request was tried. Failed requests are not an error.
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

// run is the state of a load.
type run struct {
	o      Options
	target target
	jobs   source
	watch  *threadWatch
	record *recorder
	start  time.Time
}

func newRun(o Options, t target, w *threadWatch) *run {
	return &run{o: o, target: t, watch: w, record: newRecorder(o.Connections), jobs: numbered(o.Op, o.Requests, o.Duration > 0)}
}

// do makes the requests and returns the result.
func (r *run) do(ctx context.Context) *Result {
	r.start = time.Now()
	r.record.start, r.record.since = r.start, r.start
	done := make(chan struct{})
	var looking, workers sync.WaitGroup
	looking.Go(func() { r.observe(done) })
	for i := range r.o.Connections {
		workers.Go(func() { r.work(ctx, r.record.shard(i)) })
	}
	workers.Wait()
	wall := time.Since(r.start)
	close(done)
	looking.Wait()
	r.record.interval(r.start.Add(wall), r.watch.now())
	return r.result(ctx, wall)
}

// work makes one request after another over one connection.
func (r *run) work(ctx context.Context, s *shard) {
	l := r.target.connect()
	defer l.close()
	var j job
	for ctx.Err() == nil && r.jobs(&j) {
		due, ok := r.due(ctx, j.position)
		if !ok {
			return
		}
		err := l.do(ctx, &j)
		switch {
		case err == nil:
			s.succeeded(time.Since(due), j.files)
		case ctx.Err() == nil: // an aborted request counts neither as success nor as failure
			var none *connectionError
			s.failed(err.Error(), !errors.As(err, &none))
			if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
				sleep(ctx, refusedPause)
			}
		}
	}
}

// refusedPause is how long a connection waits after it could not be made. A server that is gone refuses
// at once: without a pause, the load would do nothing but ask.
const refusedPause = 10 * time.Millisecond

// due waits until a request is due and returns that time: with a rate, the time of its
// position, even if it has passed; otherwise now. A request that would be due after the load's
// duration is not made.
func (r *run) due(ctx context.Context, position int) (at time.Time, ok bool) {
	at = time.Now()
	if r.o.Rate > 0 {
		at = r.start.Add(time.Duration(min(float64(position)/r.o.Rate*float64(time.Second), dueMax)))
	}
	if r.o.Duration > 0 && at.Sub(r.start) >= r.o.Duration {
		return at, false
	}
	wait := time.Until(at)
	if wait <= 0 {
		return at, true
	}
	return at, sleep(ctx, wait)
}

// sleep waits, and reports whether it waited to the end.
func sleep(ctx context.Context, wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// The first intervals are shorter, so that short loads show a course.
const (
	intervalFirst = 250 * time.Millisecond
	firstTime     = 5 * time.Second
	intervalLater = time.Second
)

// observe divides the run into intervals and reports progress.
func (r *run) observe(done <-chan struct{}) {
	ticker := time.NewTicker(intervalFirst)
	defer ticker.Stop()
	slow := false
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		now := time.Now()
		r.record.interval(now, r.watch.now())
		if r.o.Progress != nil {
			r.o.Progress(r.progress(now.Sub(r.start)))
		}
		if !slow && now.Sub(r.start) >= firstTime {
			slow = true
			ticker.Reset(intervalLater)
		}
	}
}

func (r *run) progress(elapsed time.Duration) Progress {
	p := Progress{Done: r.record.succeeded + r.record.failed, Failed: r.record.failed, Elapsed: elapsed, Duration: r.o.Duration, Left: -1, Last: r.record.last()}
	switch {
	case r.o.Op == Clean:
		return p
	case r.o.Duration > 0:
		p.Left = max(r.o.Duration-elapsed, 0)
		return p
	}
	p.Total = int64(r.o.Requests)
	if p.Done > 0 {
		p.Left = time.Duration(float64(elapsed) * float64(p.Total-p.Done) / float64(p.Done))
	}
	return p
}

func (r *run) result(ctx context.Context, wall time.Duration) *Result {
	m := r.record
	result := &Result{
		Op: r.o.Op, Protocol: r.o.Protocol, URL: r.o.URL, Rate: r.o.Rate, Duration: r.o.Duration,
		Connections: r.o.Connections, Requests: int64(r.o.Requests), Size: r.o.Size,
		Succeeded: m.succeeded, Failed: m.failed, Failures: m.failures(), unreached: m.unreached,
		Wall: wall, Latency: latencyOf(m.total), Histogram: bucketsOf(m.total, coarseLimits), fine: bucketsOf(m.total, fineLimits),
		ThreadsPeak: r.watch.peak(), Timeline: m.timeline,
	}
	made := m.succeeded + m.failed
	switch {
	case r.o.Op == Clean:
		result.Requests, result.Interrupted = made, true
	case r.o.Duration > 0:
		result.Files, result.Requests, result.Interrupted = result.Requests, made, wall < r.o.Duration
	default:
		result.Interrupted = made < result.Requests
	}
	result.Interrupted = result.Interrupted && ctx.Err() != nil
	return result
}
