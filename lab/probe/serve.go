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
