// Package gocache is a build cache for the go command (GOCACHEPROG): a bounded local folder, with
// a file service behind it that all machines of a team share.
//
// A server that is unreachable, slow or wrong costs cache hits and one warning, and never a
// build. The package must not know how to print.
package gocache

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Stats count what a go command asked for.
type Stats struct {
	Local, Remote int64 // hits
	Misses        int64
	Sent, Unsent  int64 // new outputs
}

// Names of the protocol's commands. Go's package cmd/go/internal/cacheprog defines them.
const (
	cmdGet   = "get"
	cmdPut   = "put"
	cmdClose = "close"
)

// request is a value of the protocol. A put with a BodySize is followed by its body, a string in base64.
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// cache is the cache of one go command.
type cache struct {
	local  *folder
	remote *remote
	stats  struct{ local, remote, misses, sent, unsent atomic.Int64 }

	mu  sync.Mutex
	out *bufio.Writer

	gets    sync.WaitGroup
	slots   chan struct{}
	queue   chan output
	senders sync.WaitGroup
}

// Run answers a go command until it closes the cache or its end of in. If ctx ends, the server
// is left out, but the go command still gets its answers.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) (Stats, error) {
	local, err := openFolder(o.Dir, o.LocalMax)
	if err != nil {
		return Stats{}, err
	}
	defer local.lock.Close()
	o.Timeout = cmp.Or(o.Timeout, TimeoutDefault)
	c := &cache{
		local: local, remote: newRemote(ctx, o), out: bufio.NewWriter(out),
		slots: make(chan struct{}, requestsMax), queue: make(chan output, queueMax),
	}
	defer c.remote.leaveOut()
	for range sendersMax {
		c.senders.Go(c.send)
	}
	err = c.respond(response{KnownCommands: []string{cmdGet, cmdPut, cmdClose}})
	var closing *request
	if err == nil {
		closing, err = c.serve(bufio.NewReaderSize(in, 64<<10))
	}
	cut := time.AfterFunc(o.Timeout, c.remote.leaveOut)
	c.gets.Wait() // none is left unless the go command has gone
	close(c.queue)
	c.senders.Wait()
	if n := c.stats.unsent.Load(); !cut.Stop() && n > 0 {
		c.remote.warn(fmt.Errorf("%d new files were not sent within %v after the build", n, o.Timeout))
	}
	if err == nil {
		err = c.local.trim()
	}
	if closing != nil {
		err = errors.Join(err, c.respond(response{ID: closing.ID}))
	}
	s := &c.stats
	return Stats{s.local.Load(), s.remote.Load(), s.misses.Load(), s.sent.Load(), s.unsent.Load()}, err
}

func (c *cache) respond(r response) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := json.NewEncoder(c.out).Encode(r); err != nil {
		return err
	}
	return c.out.Flush()
}

// serve answers requests until the one that closes the cache, which it returns. Without one, nil.
func (c *cache) serve(in io.Reader) (*request, error) {
	requests := json.NewDecoder(in)
	for {
		r := new(request)
		if err := requests.Decode(r); err == io.EOF {
			return nil, nil
		} else if err != nil || r.BodySize < 0 {
			return nil, fmt.Errorf("%w: a request cannot be read", ErrProtocol)
		}
		answer := response{ID: r.ID, Err: "muster gocache does not know this command"}
		switch r.Command {
		case cmdGet:
			c.slots <- struct{}{}
			c.gets.Go(func() {
				defer func() { <-c.slots }()
				_ = c.respond(c.get(r)) // an error means that the go command has gone
			})
			continue
		case cmdPut:
			in = io.MultiReader(requests.Buffered(), in)
			if err := readBody(in, r.BodySize, func(body io.Reader) { answer = c.put(r, body) }); err != nil {
				return nil, fmt.Errorf("%w: a body cannot be read", ErrProtocol)
			}
			requests = json.NewDecoder(in)
		case cmdClose:
			return r, nil
		}
		if err := c.respond(answer); err != nil {
			return nil, err
		}
	}
}

// ErrProtocol is the error of a standard input that no go command has written.
var ErrProtocol = errors.New("this is not the protocol of the go command's GOCACHEPROG")

// readBody calls use with the body that follows a request. It skips what use leaves of the body.
func readBody(in io.Reader, size int64, use func(io.Reader)) error {
	if size == 0 {
		use(bytes.NewReader(nil))
		return nil
	}
	if err := skipQuote(in); err != nil {
		return err
	}
	text := io.LimitReader(in, (size+2)/3*4)
	use(base64.NewDecoder(base64.StdEncoding, text))
	if _, err := io.Copy(io.Discard, text); err != nil {
		return err
	}
	return skipQuote(in)
}

// skipQuote reads a quotation mark, and line ends before it.
func skipQuote(in io.Reader) error {
	b := []byte{'\n'}
	for b[0] == '\n' {
		if _, err := io.ReadFull(in, b); err != nil {
			return err
		}
	}
	if b[0] != '"' {
		return errors.New("there is no quotation mark")
	}
	return nil
}

// get answers from the local folder, or else from the server.
func (c *cache) get(r *request) response {
	action, ok := digestOf(r.ActionID)
	if !ok {
		return response{ID: r.ID, Miss: true}
	}
	found, ok := c.local.find(action)
	if ok {
		c.stats.local.Add(1)
	} else if found, ok = c.fetch(action); ok {
		c.stats.remote.Add(1)
	} else {
		c.stats.misses.Add(1)
		return response{ID: r.ID, Miss: true}
	}
	return response{ID: r.ID, OutputID: found.output[:], Size: found.size, Time: &found.at, DiskPath: c.local.path(found.output)}
}

// fetch brings an action's output from the server into the local folder. An output that the
// folder would not keep is not taken: a false record must not fill the disk.
func (c *cache) fetch(action digest) (found record, ok bool) {
	found, ok = c.remote.record(action)
	if !ok || found.size > c.local.most {
		return found, false
	}
	if !c.local.has(found) {
		if !c.remote.output(found, func(body io.Reader) error { return c.local.store(found, body) }) {
			return found, false
		}
	}
	return found, c.local.note(action, found) == nil
}

// put stores a new output in the local folder, and queues it for the server. After an error the go command goes on
// without this output.
func (c *cache) put(r *request, body io.Reader) response {
	action, ok := digestOf(r.ActionID)
	out, ok2 := digestOf(r.OutputID)
	if !ok || !ok2 {
		return response{ID: r.ID, Err: "the digests are not SHA-256"}
	}
	one := output{action, record{out, r.BodySize, time.Now()}}
	err := c.local.store(one.record, body)
	if err == nil {
		err = c.local.note(action, one.record)
	}
	if err != nil {
		return response{ID: r.ID, Err: err.Error()}
	}
	select {
	case c.queue <- one:
	default:
		c.stats.unsent.Add(1)
	}
	return response{ID: r.ID, DiskPath: c.local.path(out)}
}

// send sends queued outputs until the queue is closed.
func (c *cache) send() {
	for one := range c.queue {
		if c.remote.put(one, c.local.path(one.record.output)) {
			c.stats.sent.Add(1)
		} else {
			c.stats.unsent.Add(1)
		}
	}
}
