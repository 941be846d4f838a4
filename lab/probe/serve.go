package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"muster/fileio"
	"muster/files"
)

// ServeOptions says what is served.
type ServeOptions struct {
	Dir    string // an empty folder, which is left as it was
	Engine EngineOptions
}

// Serve is what the server of [Upload] does, in a process of its own: it serves a store of
// files until in ends. It says two lines: where it is, and at the end how many threads it
// has had from the system.
func Serve(ctx context.Context, o ServeOptions, in io.Reader, out io.Writer) (err error) {
	if err := mustBeEmpty(o.Dir); err != nil {
		return err
	}
	engine, err := o.Engine.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(), empty(o.Dir)) }()
	// As the article's server, it flushes nothing.
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
	// Go gives no thread back that it ever had, and the engine has all of its own still.
	_, e := fmt.Fprintf(out, "%d\n", threads())
	err = errors.Join(err, e, server.Close())
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
