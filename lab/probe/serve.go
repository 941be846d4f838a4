package probe

import (
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
	"muster/files"
	"muster/files/load"
)

// ServeOptions configures [Serve].
type ServeOptions struct {
	Dir    string // an empty folder; it is empty again afterwards
	Engine EngineOptions
}

// Serve runs in the server process of [Upload]. It serves a store of files until in ends. It
// prints its URL on the first line, and at the end the number of threads of its process.
func Serve(ctx context.Context, o ServeOptions, in io.Reader, out io.Writer) (err error) {
	if err := requireEmpty(o.Dir); err != nil {
		return err
	}
	engine, err := o.Engine.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(), removeContents(o.Dir)) }()
	// The article's server does not flush either.
	store, err := fileio.Open(o.Dir, engine, fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return serve(ctx, files.NewServer(store, files.Options{}), in, out)
}

func serve(ctx context.Context, handler http.Handler, in io.Reader, out io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	_, err = io.Copy(io.Discard, in)
	// Go never releases a thread, and the engine still has all its threads.
	_, e := fmt.Fprintf(out, "%d\n", threads())
	err = errors.Join(err, e, server.Close())
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// UploadOptions configures [Upload].
type UploadOptions struct {
	Server      []string // command of a process that calls [Serve] with its standard input and output
	Connections int
	Requests    int // in all
	Size        int // of each file, in bytes
}

// UploadResult is the result of [Upload].
type UploadResult struct {
	N       int
	Wall    time.Duration // from the first request to the last response
	Threads int           // most threads of the server's process; 0 = unknown
}

// Upload starts a server and uploads files to it over several connections. A failed request is
// an error. The server has ended when Upload returns.
func Upload(ctx context.Context, o UploadOptions) (u UploadResult, err error) {
	if len(o.Server) == 0 {
		return u, errors.New("a command for the server is required")
	}
	s, err := startServer(ctx, o.Server)
	if err != nil {
		return u, err
	}
	result, err := load.Run(ctx, load.Options{
		Op: load.Upload, URL: s.url, Connections: o.Connections, Requests: o.Requests, Size: int64(o.Size),
	})
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("%d of %d uploads failed: %s", result.Failed, result.Requests, result.Failures[0].Reason)
	}
	n, e := s.stop()
	if err := errors.Join(err, e); err != nil {
		return u, err
	}
	return UploadResult{N: int(result.Succeeded), Wall: result.Wall, Threads: n}, nil
}

// A server is a process that calls Serve.
type server struct {
	*PipedProcess
	url string
}

// startServer returns when the server has printed its URL. The server ends with ctx. It also
// ends if this process dies, because that closes its standard input.
func startServer(ctx context.Context, command []string) (*server, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.WaitDelay = time.Second
	p, err := StartPiped(c)
	if err != nil {
		return nil, err
	}
	s := &server{PipedProcess: p}
	line, err := s.Out.ReadString('\n')
	if err != nil {
		_, e := s.stop()
		return nil, errors.Join(fmt.Errorf("the server did not print its URL: %w", err), e)
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

// stop ends the server and returns the number of its threads.
func (s *server) stop() (threads int, err error) {
	s.In.Close()
	line, err := s.Out.ReadString('\n')
	if err == nil {
		threads, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if e := s.Cmd.Wait(); e != nil {
		return 0, fmt.Errorf("the server failed: %w: %s", e, firstLines(s.Failed.Bytes))
	}
	return threads, err
}
