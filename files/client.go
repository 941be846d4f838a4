package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ClientOptions of a client; the zero value is what most want.
type ClientOptions struct {
	// Token is sent with every request, as "Authorization: Bearer TOKEN"; "" = nothing.
	Token string

	// PlainToken sends the token over plain http to other machines as well, for networks
	// that are trusted. Without it such a request is an error, and is not made.
	PlainToken bool

	// HTTPClient makes the requests; nil = one with limits on the time for connecting, for
	// TLS and for the beginning of an answer. A body may take any time while it moves. No
	// client follows redirects here: a token must not reach anybody that nobody named.
	HTTPClient *http.Client
}

// Client is the other end of a Server: whole files, by their full addresses, as in
// http://HOST/files/NAME. Any number of goroutines may use it at the same time.
//
// An answer other than the one that was asked for is a *StatusError, for which errors.Is
// says what Store's errors do: fs.ErrNotExist, fs.ErrPermission, fileio.ErrChanged,
// fileio.ErrBusy. What was surely not done, for the server was busy (503) or not there, is
// tried again, three times; what only reads, or can be done twice, also where a connection broke.
// A body of which nothing moves for two minutes ends with ErrStalled.
type Client struct {
	http    http.Client
	options ClientOptions
}

// How long the default client waits.
const (
	connectTimeout  = 10 * time.Second
	tlsTimeout      = 10 * time.Second
	answerTimeout   = 2 * time.Minute // for an answer's beginning: a file may have to be flushed before it
	continueTimeout = 5 * time.Second // then a body is sent unasked
	idleTimeout     = 15 * time.Second
)

// NewClient makes a client.
func NewClient(o ClientOptions) *Client {
	c := &Client{options: o}
	if o.HTTPClient != nil {
		c.http = *o.HTTPClient
	} else {
		c.http.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
			ForceAttemptHTTP2:     true,
			TLSHandshakeTimeout:   tlsTimeout,
			ResponseHeaderTimeout: answerTimeout,
			ExpectContinueTimeout: continueTimeout,
			IdleConnTimeout:       idleTimeout,
		}
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Condition is what must hold of the file that is there for a change to be made; the zero
// value is nothing.
type Condition struct {
	IfMatch        string // it has this ETag
	IfNoneMatchAll bool   // there is none
}

func (c Condition) set(h http.Header) {
	if c.IfMatch != "" {
		h.Set("If-Match", c.IfMatch)
	}
	if c.IfNoneMatchAll {
		h.Set("If-None-Match", "*")
	}
}

// Attributes of a file at an address.
type Attributes struct {
	ETag string // "" where the server gives none
	Size int64  // bytes; -1 where it is not known
}

func attributesOf(r *http.Response) Attributes {
	return Attributes{r.Header.Get("ETag"), r.ContentLength}
}

// Content is a file on its way, to be closed by who asked for it. Its Read ends with
// another error than io.EOF when it was cut off, or is not what the server announced.
type Content struct {
	io.ReadCloser
	Attributes
}

// ErrNotModified is the error of a Get for what the caller has already.
var ErrNotModified = errors.New("the file is as it was")

// Get opens a file, unless it has the ETag ifNoneMatch; "" = in any case.
func (c *Client) Get(ctx context.Context, address, ifNoneMatch string) (*Content, error) {
	h := http.Header{}
	if ifNoneMatch != "" {
		h.Set("If-None-Match", ifNoneMatch)
	}
	r, err := c.do(ctx, &exchange{method: http.MethodGet, address: address, header: h, repeatable: true})
	if err != nil {
		return nil, err
	}
	if r.StatusCode == http.StatusNotModified {
		r.Body.Close()
		return nil, ErrNotModified
	}
	body, err := digested(r.Header, r.Body)
	if err != nil {
		r.Body.Close()
		return nil, fmt.Errorf("GET %s: %w", address, err)
	}
	return &Content{body, attributesOf(r)}, nil
}

// Head tells what is known of a file.
func (c *Client) Head(ctx context.Context, address string) (Attributes, error) {
	r, err := c.do(ctx, &exchange{method: http.MethodHead, address: address, repeatable: true})
	if err != nil {
		return Attributes{}, err
	}
	return attributesOf(r), r.Body.Close()
}

// expectFrom is from how many bytes on a body is not sent before the server asks for it: it
// may refuse it, and closes the connection of one that it does not read.
const expectFrom = 64 << 10

// Put writes the first size bytes of body as a file, and returns its ETag. It reads them
// twice: their SHA-256 is announced, so that the server takes nothing else. With a
// condition, a connection that breaks leaves open whether the file was written.
func (c *Client) Put(ctx context.Context, address string, body io.ReaderAt, size int64, want Condition) (etag string, err error) {
	sum := sha256.New()
	if n, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil || n != size {
		return "", fmt.Errorf("PUT %s: %d of %d bytes: %w", address, n, size, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	h := http.Header{}
	h.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum.Sum(nil))+":")
	h.Set("Content-Type", octets)
	if size >= expectFrom {
		h.Set("Expect", "100-continue")
	}
	want.set(h)
	r, err := c.do(ctx, &exchange{method: http.MethodPut, address: address, header: h, body: body, size: size, repeatable: want == Condition{}})
	if err != nil {
		return "", err
	}
	return r.Header.Get("ETag"), r.Body.Close()
}

// Delete removes a file.
func (c *Client) Delete(ctx context.Context, address string, want Condition) error {
	h := http.Header{}
	want.set(h)
	r, err := c.do(ctx, &exchange{method: http.MethodDelete, address: address, header: h})
	if err != nil {
		return err
	}
	return r.Body.Close()
}

// MayTell refuses to send the token to where others could read it on its way: it is an
// ErrPlainToken. A Client asks it of each address itself.
func (o *ClientOptions) MayTell(u *url.URL) error {
	if o.Token == "" || o.PlainToken || u.Scheme != "http" {
		return nil
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s: %w", u.Redacted(), ErrPlainToken)
}

// ErrPlainToken is the error of a request that would show its token to the network.
var ErrPlainToken = errors.New("the token would cross the network unencrypted")

// List yields the files of a server whose names begin with prefix, in order; server is
// its address without a path, as in http://HOST. It asks for some of them at a time. An
// error is the last that it yields.
func (c *Client) List(ctx context.Context, server, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		after := ""
		for {
			l, err := c.page(ctx, server, url.Values{"prefix": {prefix}, "after": {after}})
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range l.Files {
				if !yield(e, nil) {
					return
				}
			}
			if l.Next == "" || l.Next == after { // a server that does not go on is asked no further
				return
			}
			after = l.Next
		}
	}
}

// pageMax bounds one page of a list, in bytes: ListMax names with all that is told of them.
const pageMax = 16 << 20

func (c *Client) page(ctx context.Context, server string, query url.Values) (l listing, err error) {
	address := strings.TrimSuffix(server, "/") + prefix + "?" + query.Encode()
	r, err := c.do(ctx, &exchange{method: http.MethodGet, address: address, repeatable: true})
	if err != nil {
		return l, err
	}
	defer r.Body.Close()
	if err := json.NewDecoder(io.LimitReader(r.Body, pageMax)).Decode(&l); err != nil {
		return l, fmt.Errorf("GET %s: no list: %w", address, err)
	}
	return l, nil
}
