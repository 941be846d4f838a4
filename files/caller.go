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

// CallerOptions configure a Caller.
type CallerOptions struct {
	// URL is the server's address without a path, such as http://127.0.0.1:9999.
	URL string

	// HTTPClient makes the requests; nil = a client that keeps any number of connections while
	// they are used. Redirects are never followed, so that the token reaches only the named
	// server.
	HTTPClient *http.Client

	// Token is the server's token; "" = no token is sent.
	Token string

	// JSON encodes messages as JSON instead of protobuf.
	JSON bool

	// PageSize is how many bytes of a file a message holds, up to PageSizeMax; 0 = 64 KiB,
	// which every server accepts.
	PageSize int
}

// A Caller is a client of the message service. Any number of goroutines may call its methods
// at the same time. An error about a missing file is an fs.ErrNotExist. The error of a server
// that has too much to do is a [fileio.ErrBusy].
type Caller struct {
	client wire.FilesClient
	token  string
	page   int
	pages  sync.Pool // of *[]byte
}

// NewCaller returns a Caller. It does not connect yet.
func NewCaller(o CallerOptions) (*Caller, error) {
	at, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	if at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("%q is not the address of a server: write http://HOST:PORT", o.URL)
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
	c.client = wire.NewFilesClient(cuttingClient{&client}, strings.TrimRight(o.URL, "/"), options...)
	return c, nil
}

// request returns a request with the token.
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

// callError returns the error of a call, or nil.
func callError(op, name string, err error) error {
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

// Exist reports whether a file of that name exists.
func (c *Caller) Exist(ctx context.Context, name string) (bool, error) {
	answer, err := c.client.Exist(ctx, request(c, &wire.ExistRequest{Name: name}))
	if err != nil {
		return false, callError("exist", name, err)
	}
	return answer.Msg.Exists, nil
}

// Delete removes a file.
func (c *Caller) Delete(ctx context.Context, name string) error {
	_, err := c.client.Delete(ctx, request(c, &wire.DeleteRequest{Name: name}))
	return callError("delete", name, err)
}

// Clean removes all files whose names begin with prefix and returns their number. prefix must
// not be empty.
func (c *Caller) Clean(ctx context.Context, prefix string) (int64, error) {
	answer, err := c.client.Clean(ctx, request(c, &wire.CleanRequest{Prefix: prefix}))
	if err != nil {
		return 0, callError("clean", prefix, err)
	}
	return answer.Msg.Deleted, nil
}

var errEcho = errors.New("the server returned a different message")

// Bench has the server echo a message of at most 64 KiB, and checks the answer.
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
