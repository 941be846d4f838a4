package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	if CheckAddress(at) != nil || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("%q is not the address of a server: write http://HOST:PORT", o.URL)
	}
	if o.PageSize < 0 || o.PageSize > PageSizeMax {
		return nil, fmt.Errorf("pages of %d bytes: from 1 to %d are possible", o.PageSize, PageSizeMax)
	}
	c := &Caller{page: cmp.Or(o.PageSize, pageDefault)}
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

// Upload writes all bytes of r as a file and replaces an existing file of that name. size is
// the number of bytes in r, or -1 if unknown. If r fails, the previous file is unchanged.
func (c *Caller) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := c.client.Upload(ctx)
	c.authorize(stream.RequestHeader())
	sent, err := c.send(stream, &wire.UploadRequest{Name: name, Size: &size}, r)
	if err != nil {
		cancel()
		_, _ = stream.CloseAndReceive() // releases the connection
		return callError("upload", name, err)
	}
	answer, err := stream.CloseAndReceive()
	if err == nil && answer.Msg.Size != sent {
		err = fmt.Errorf("%d bytes were sent, but the server stored %d", sent, answer.Msg.Size)
	}
	return callError("upload", name, err)
}

// send sends the content of r and returns the number of bytes. It ends early, without an
// error, if the server answers early. Its buffer goes back to the pool before the answer
// comes.
func (c *Caller) send(stream *connect.ClientStreamForClient[wire.UploadRequest, wire.UploadResponse], message *wire.UploadRequest, r io.Reader) (sent int64, err error) {
	pooled, ok := c.pages.Get().(*[]byte)
	if !ok {
		pooled = new(make([]byte, c.page))
	}
	defer c.pages.Put(pooled)
	page := *pooled
	for {
		n, last, err := fill(r, page)
		if err != nil {
			return sent, err
		}
		if n == 0 && message.Name == "" {
			return sent, nil
		}
		message.Data = page[:n]
		if err := stream.Send(message); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return sent, err
		}
		sent += int64(n)
		if last {
			return sent, nil
		}
		message.Name, message.Size = "", nil
	}
}

// cuttingClient makes requests. If a body's length is unknown and the context ends, the body
// ends with an error: otherwise the server would take its end for the end of the file. The
// transport itself may not have noticed the context's end yet.
type cuttingClient struct{ client *http.Client }

func (c cuttingClient) Do(r *http.Request) (*http.Response, error) {
	if r.ContentLength < 0 {
		r.Body = &cutBody{r.Body, r.Context()}
	}
	return c.client.Do(r)
}

type cutBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b *cutBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.ctx.Err() != nil {
		err = b.ctx.Err()
	}
	return n, err
}

// fill reads a page, and reports whether r has ended. Unlike io.ReadFull it distinguishes the
// end of r from an error because r was cut off.
func fill(r io.Reader, page []byte) (n int, last bool, err error) {
	for n < len(page) {
		more, err := r.Read(page[n:])
		n += more
		if err == io.EOF {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

var errNoAnswer = errors.New("the server sent no answer about the file")

// Download writes a file to w and returns the number of bytes. After an error, w may have
// received the beginning of the file.
func (c *Caller) Download(ctx context.Context, name string, w io.Writer) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // discard the unread rest
	stream, err := c.client.Download(ctx, request(c, &wire.DownloadRequest{Name: name}))
	if err != nil {
		return 0, callError("download", name, err)
	}
	defer stream.Close()
	n, err := receive(stream, w)
	return n, callError("download", name, err)
}

func receive(stream *connect.ServerStreamForClient[wire.DownloadResponse], w io.Writer) (n int64, err error) {
	size := int64(-1)
	for stream.Receive() {
		message := stream.Msg()
		if size < 0 {
			size = message.Size
		}
		if _, err := w.Write(message.Data); err != nil {
			return n, err
		}
		n += int64(len(message.Data))
	}
	switch err := stream.Err(); {
	case err != nil:
		return n, err
	case size < 0:
		return n, errNoAnswer
	case n != size:
		return n, fmt.Errorf("received %d bytes of %d", n, size)
	}
	return n, nil
}
