package files

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"muster/fileio"
	"muster/internal/fair"
)

// ClientOptions configure a client. The zero value suits most clients.
type ClientOptions struct {
	// Token is sent with every request, as "Authorization: Bearer TOKEN"; "" = no token is
	// sent.
	Token string

	// PlainToken allows sending the token over plain http to other machines, for trusted
	// networks. Without it such a request fails before it is sent.
	PlainToken bool

	// HTTPClient makes the requests; nil = a client with timeouts for connecting, for TLS and
	// for the beginning of an answer. A body may take any time while bytes move. Redirects are
	// never followed, so that the token reaches only the named server.
	HTTPClient *http.Client
}

// Client reads and writes whole files of a Server by their full addresses, such as
// http://HOST/files/NAME. Any number of goroutines may use it at the same time.
//
// An unexpected answer is a *StatusError. errors.Is matches it with the corresponding error of
// fileio.Files: fs.ErrNotExist, fs.ErrPermission, fileio.ErrChanged, fileio.ErrBusy. The client
// retries a request up to three times if the server certainly did not execute it, because it
// was busy (503) or unreachable. It also retries reads and repeatable requests after a broken
// connection. A body that stalls for two minutes ends with ErrStalled.
type Client struct {
	http    http.Client
	options ClientOptions
}

// Timeouts of the default client.
const (
	connectTimeout  = 10 * time.Second
	tlsTimeout      = 10 * time.Second
	answerTimeout   = 2 * time.Minute // for an answer's beginning, because a file may have to be flushed first
	continueTimeout = 5 * time.Second // afterwards a body is sent without 100 Continue
	idleTimeout     = 15 * time.Second
	idleMax         = 64 // connections that are kept for further requests
)

// CheckAddress returns an error if u is not the address of a server. It does not look at the path.
func CheckAddress(u *url.URL) error {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	shown := *u
	shown.User = nil // it may be a secret
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("%q is not the address of a server: write http://127.0.0.1:9999 or https://HOST", shown.String())
	case err != nil || port == 0:
		return fmt.Errorf("%q has a port that no server can have: use one from 1 to 65535", shown.String())
	}
	return nil
}

// NewClient returns a client.
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
			MaxIdleConnsPerHost:   idleMax,
		}
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Condition restricts a change to an expected state of the file. The zero value allows
// everything.
type Condition struct {
	IfMatch        string // the file has this ETag
	IfNoneMatchAll bool   // the file does not exist
}

// Content is a file that is being received. The caller of Get must close it. Read returns an
// error other than io.EOF if the file was cut off or does not match the server's digest.
type Content struct {
	io.ReadCloser
	ETag string // "" if the server sends no ETag
	Size int64  // bytes; -1 = not known
}

// ErrNotModified is the error of a Get for content that the caller already has.
var ErrNotModified = errors.New("the file has not changed")

// Get opens a file unless it has the ETag ifNoneMatch; "" = in any case.
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
	body, err := verifyDigest(r.Header, r.Body)
	if err != nil {
		r.Body.Close()
		return nil, fmt.Errorf("GET %s: %w", address, err)
	}
	return &Content{body, r.Header.Get("ETag"), r.ContentLength}, nil
}

// expectFrom is the size from which a body waits for the server's 100 Continue. The server may
// refuse the request, and closes a connection whose body it does not read.
const expectFrom = 64 << 10

// Put writes the first size bytes of body as a file, and returns its ETag. It reads them
// twice: it announces their SHA-256, so that the server accepts nothing else. With a
// condition, a broken connection leaves open whether the file was written.
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
	if want.IfMatch != "" {
		h.Set("If-Match", want.IfMatch)
	}
	if want.IfNoneMatchAll {
		h.Set("If-None-Match", "*")
	}
	r, err := c.do(ctx, &exchange{method: http.MethodPut, address: address, header: h, body: body, size: size, repeatable: want == Condition{}})
	if err != nil {
		return "", err
	}
	return r.Header.Get("ETag"), r.Body.Close()
}

// CheckToken returns an ErrPlainToken if others could read the token on its way to this
// address. A Client checks each address itself.
func (o *ClientOptions) CheckToken(u *url.URL) error {
	if o.Token == "" || o.PlainToken || u.Scheme != "http" {
		return nil
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s: %w", u.Redacted(), ErrPlainToken)
}

// ErrPlainToken is the error of a request that would expose its token to the network.
var ErrPlainToken = errors.New("the token would cross the network unencrypted")

// clientOf returns the client that sent a request: its token and its address. For IPv6 only
// the 64-bit prefix counts, which networks assign to one customer.
func clientOf(r *http.Request, token string) fair.Client {
	const customer = 64 // bits
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return fair.Client{Token: token, Address: r.RemoteAddr}
	}
	addr := at.Addr().Unmap()
	if addr.Is6() { // for others, Prefix allocates an error
		if prefix, err := addr.Prefix(customer); err == nil {
			addr = prefix.Addr()
		}
	}
	return fair.Client{Token: token, Address: addr.String()}
}

// StatusError is the answer of a server that did not execute a request.
type StatusError struct {
	Method, Address string
	Status          int    // such as http.StatusNotFound
	Words           string // the first line of the answer: printable, wordsMax bytes at most

	retryAfter time.Duration
}

// wordsMax bounds the quoted text of a server, which may be untrusted.
const wordsMax = 200

func statusError(q *exchange, answer *http.Response) error {
	defer answer.Body.Close()
	e := &StatusError{Method: q.method, Address: q.address, Status: answer.StatusCode, retryAfter: retryAfterOf(answer.Header)}
	if to := answer.Header.Get("Location"); e.Status/100 == 3 && to != "" {
		e.Words = printable("it has moved to " + to)
		return e
	}
	// Ignore read errors: the status suffices.
	line, _ := bufio.NewReader(io.LimitReader(answer.Body, wordsMax)).ReadString('\n')
	e.Words = printable(line)
	return e
}

// printable replaces characters that could affect a terminal.
func printable(line string) string {
	line = strings.TrimSpace(line[:min(len(line), wordsMax)])
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, line)
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.Address, e.Status, http.StatusText(e.Status))
	if e.Words != "" {
		text += ": " + e.Words
	}
	return text
}

// Unwrap returns the corresponding error of fileio.Files, or nil.
func (e *StatusError) Unwrap() error {
	switch e.Status {
	case http.StatusNotFound, http.StatusGone:
		return fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return fs.ErrPermission
	case http.StatusPreconditionFailed:
		return fileio.ErrChanged
	case http.StatusServiceUnavailable:
		return fileio.ErrBusy
	case http.StatusInsufficientStorage:
		return syscall.ENOSPC
	}
	return nil
}
