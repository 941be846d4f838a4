package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
	"muster/files"
	"muster/files/load"
	"muster/lab/results"
	"muster/pool"
)

// Names of package fileio's engines.
const (
	Direct   = "direct"
	Pool     = "pool"
	CThreads = "cthreads"
	URing    = "uring"
)

// Engines returns all names. The engine without a bound on threads is first.
func Engines() []string { return []string{Direct, Pool, CThreads, URing} }

// An Engine executes file operations.
type Engine struct {
	Name    string
	Threads int  // 1 or more; Direct ignores it and has a thread for each operation
	Bound   bool // pins each thread to a processor; only CThreads can
}

func (o Engine) open() (fileio.Engine, error) {
	switch o.Name {
	case Direct:
		return &direct.Engine{}, nil
	case Pool:
		return pooled.New(pooled.Options{Threads: o.Threads})
	case CThreads:
		return cthreads.New(cthreads.Options{Threads: o.Threads, Affinity: o.Bound})
	case URing:
		return uring.New(uring.Options{Threads: o.Threads})
	}
	return nil, fmt.Errorf("unknown engine %q", o.Name)
}

// CheckAvailable returns the reason why this machine cannot run the engine, or nil.
func (o Engine) CheckAvailable() error {
	e, err := o.open()
	if err != nil {
		return err
	}
	return e.Close()
}

// withStore opens a store in an empty folder for do. Nothing in it is flushed, as in the article's
// server.
func (o Engine) withStore(dir string, do func(*fileio.Store) error) (err error) {
	if err := requireEmpty(dir); err != nil {
		return err
	}
	engine, err := o.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	store, err := fileio.Open(dir, engine, fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(store)
}

// Store measures whole files through a store of package fileio: first all are put, then all are
// read back. Each operation is a job of the engine.
type Store struct {
	Engine     Engine
	Files      int
	Size       int // of each file, in bytes
	Goroutines int // that put, and then get, at the same time
}

func (o Store) measure(in Input) (results.Sample, error) {
	s := results.Sample{N: o.Files}
	names, content := make([]string, o.Files), fileContent(o.Size)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	err := o.Engine.withStore(in.dir, func(store *fileio.Store) error {
		put := func(ctx context.Context, name string) error {
			_, err := store.Put(ctx, name, bytes.NewReader(content), int64(len(content)), nil)
			return err
		}
		get := func(ctx context.Context, name string) error { return readBack(ctx, store, name, len(content)) }
		for _, step := range []struct {
			unit string
			do   func(ctx context.Context, name string) error
		}{{results.PutPerOp, put}, {results.GetPerOp, get}} {
			c, err := measureEach(o.Files, func(int) error { return pool.ForEach(in.ctx, o.Goroutines, names, step.do) })
			if err != nil {
				return err
			}
			s.Values = append(s.Values, value(step.unit, float64(c.wall)/float64(c.n)))
		}
		// Go never releases a thread, and the engine still has all its threads.
		s.Values = append(s.Values, value(results.Threads, threads()))
		return nil
	})
	return s, err
}

func readBack(ctx context.Context, store *fileio.Store, name string, size int) error {
	file, err := store.Get(ctx, name)
	if err != nil {
		return err
	}
	// Contents are not compared, because that would add to the cost; tests of the store do.
	err = file.CopyTo(ctx, struct{ io.Writer }{io.Discard}, 0, int64(size))
	return errors.Join(err, file.Close())
}

// Serve is the server of [Upload]. It serves a store of files until its standard input ends. It
// prints its URL on the first line, and at the end the number of threads of its process.
type Serve struct{ Engine Engine }

func (o Serve) measure(in Input) (s results.Sample, err error) {
	return s, o.Engine.withStore(in.dir, func(store *fileio.Store) error {
		listener, err := new(net.ListenConfig).Listen(in.ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: files.NewServer(store, files.Options{})}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(listener) }()
		fmt.Fprintf(in.stdout, "http://%s\n", listener.Addr())
		_, err = io.Copy(io.Discard, in.stdin)
		fmt.Fprintf(in.stdout, "%d\n", threads())
		err = errors.Join(err, server.Close())
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	})
}

// Upload starts a server and uploads files to it over several connections. Its words are the
// command of the server. A failed request is an error.
type Upload struct {
	Connections int
	Requests    int // in all
	Size        int // of each file, in bytes
}

func (o Upload) measure(in Input) (s results.Sample, err error) {
	if len(in.words) == 0 {
		return s, errors.New("a command for the server is required")
	}
	c := exec.CommandContext(in.ctx, in.words[0], append(in.words[1:], "-dir", in.dir)...)
	c.WaitDelay = time.Second
	// The server also ends if this process dies, because that closes its standard input.
	server, err := StartPiped(c)
	if err != nil {
		return s, err
	}
	result, err := o.run(in.ctx, server)
	server.In.Close()
	line, _ := server.Out.ReadString('\n')
	if e := c.Wait(); e != nil {
		return s, server.Failed.Explain(fmt.Errorf("the server failed: %w", e))
	}
	if err != nil {
		return s, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	return results.Sample{N: int(result.Succeeded), Values: []results.Value{
		value(results.NsPerOp, float64(result.Wall)/float64(result.Succeeded)), value(results.Threads, n),
	}}, err
}

// run uploads when the server has printed its URL.
func (o Upload) run(ctx context.Context, server *PipedProcess) (result *load.Result, err error) {
	url, err := server.Out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not print its URL: %w", err)
	}
	result, err = load.Run(ctx, load.Options{
		Op: load.Upload, URL: strings.TrimSpace(url), Connections: o.Connections, Requests: o.Requests, Size: int64(o.Size),
	})
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("%d of %d uploads failed: %s", result.Failed, result.Requests, result.Failures[0].Reason)
	}
	return result, err
}
