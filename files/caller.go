package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"muster/fileio"
	"muster/files/internal/wire"
)

// CallerOptions say which service is called, and how.
type CallerOptions struct {
	// URL is where the server is, as http://127.0.0.1:9999, without a path.
	URL string

	// HTTPClient makes the requests; nil = one of its own, that keeps any number of
	// connections for as long as they are used. No client follows redirects here: a token
	// must not reach anybody that nobody named.
	HTTPClient *http.Client

	// Token is what the server wants of its clients; "" = nothing.
	Token string

	// JSON is what messages are in; else they are protobuf.
	JSON bool

	// PageSize is how many bytes of a file are sent in a message, up to PageSizeMax; 0 =
	// 64 KiB, which every server takes.
	PageSize int
}

// A Caller is a client of the message service. Its methods may be called by any number of
// goroutines at the same time. An error about a file that is not there is an
// fs.ErrNotExist, and one of a server that has too much to do a [fileio.ErrBusy].
type Caller struct {
	client wire.FilesClient
	token  string
	page   int
	pages  sync.Pool // of *[]byte
}

// NewCaller connects to nothing yet.
func NewCaller(o CallerOptions) (*Caller, error) {
	at, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	if at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("%q is no address of a server: http://HOST:PORT is wanted", o.URL)
	}
	if o.PageSize < 0 || o.PageSize > PageSizeMax {
		return nil, fmt.Errorf("pages of %d bytes: from 1 to %d are possible", o.PageSize, PageSizeMax)
	}
	c := &Caller{page: o.PageSize}
	if c.page == 0 {
		c.page = pageDefault
	}
	if o.Token != "" {
		c.token = "Bearer " + o.Token
	}
	options := []connect.ClientOption{connect.WithReadMaxBytes(messageMax(PageSizeMax)), connect.WithAcceptCompression("gzip", nil, nil)}
	if o.JSON {
		options = append(options, connect.WithProtoJSON())
	}
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			MaxIdleConnsPerHost: math.MaxInt,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
		}}
	}
	client := *o.HTTPClient
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.client = wire.NewFilesClient(cutter{&client}, strings.TrimRight(o.URL, "/"), options...)
	return c, nil
}

// request is one with the token.
func request[T any](c *Caller, message *T) *connect.Request[T] {
	r := connect.NewRequest(message)
	c.authorize(r.Header())
	return r
}

func (c *Caller) authorize(h http.Header) {
	if c.token != "" {
		h.Set("Authorization", c.token)
	}
}

// said is the error of a call; nil if it had none.
func said(op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case connect.CodeOf(err) == connect.CodeNotFound:
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case connect.CodeOf(err) == connect.CodeUnavailable && connect.IsWireError(err):
		return fmt.Errorf("%s %s: %w (%w)", op, name, err, fileio.ErrBusy)
	}
	return fmt.Errorf("%s %s: %w", op, name, err)
}

// Exist reports whether there is a file of that name.
func (c *Caller) Exist(ctx context.Context, name string) (bool, error) {
	answer, err := c.client.Exist(ctx, request(c, &wire.ExistRequest{Name: name}))
	if err != nil {
		return false, said("exist", name, err)
	}
	return answer.Msg.Exists, nil
}

// Delete removes a file.
func (c *Caller) Delete(ctx context.Context, name string) error {
	_, err := c.client.Delete(ctx, request(c, &wire.DeleteRequest{Name: name}))
	return said("delete", name, err)
}

// Clean removes all files whose names begin with prefix, which must not be empty, and says
// how many there were.
func (c *Caller) Clean(ctx context.Context, prefix string) (int64, error) {
	answer, err := c.client.Clean(ctx, request(c, &wire.CleanRequest{Prefix: prefix}))
	if err != nil {
		return 0, said("clean", prefix, err)
	}
	return answer.Msg.Deleted, nil
}

var errEcho = errors.New("another message came back than was sent")

// Bench has the server send a message back, of 64 KiB at most, and checks that it did.
func (c *Caller) Bench(ctx context.Context, message []byte) error {
	answer, err := c.client.Bench(ctx, request(c, &wire.BenchRequest{Message: message}))
	if err == nil && !bytes.Equal(answer.Msg.Message, message) {
		err = errEcho
	}
	if err != nil {
		return fmt.Errorf("bench with %d bytes: %w", len(message), err)
	}
	return nil
}
