package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"muster/files"
	"muster/internal/readable"
)

// callerTarget is a server of the message service. Without messages it is an httpTarget.
type callerTarget struct {
	*httpTarget
	caller *files.Caller // shared, so that connections share its buffers
}

func newCallerTarget(o Options) (*callerTarget, error) {
	plain, err := newHTTPTarget(o)
	if err != nil {
		return nil, err
	}
	if o.PageSize > files.PageSizeMax {
		return nil, inputf("pages of %s: %s is the maximum", readable.BinarySize(o.PageSize), readable.BinarySize(files.PageSizeMax))
	}
	caller, err := files.NewCaller(files.CallerOptions{
		URL: o.URL, Token: o.Token, JSON: o.Protocol == JSON, PageSize: int(o.PageSize),
		HTTPClient: &http.Client{Transport: linkTransport{}},
	})
	if err != nil {
		return nil, &InputError{err}
	}
	return &callerTarget{plain, caller}, nil
}

// linkTransport makes each request over the connection of the link in its context.
type linkTransport struct{}

type linkKey struct{}

func (linkTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return r.Context().Value(linkKey{}).(*http.Transport).RoundTrip(r)
}

// connect returns a link with its own transport, and so with its own connection.
func (t *callerTarget) connect() link {
	return &callerLink{target: t, transport: &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}}
}

// callerLink is one connection.
type callerLink struct {
	target    *callerTarget
	transport *http.Transport
	body      body
}

func (l *callerLink) close() { l.transport.CloseIdleConnections() }

func (l *callerLink) do(ctx context.Context, j *job) error {
	ctx = context.WithValue(ctx, linkKey{}, l.transport)
	if j.op != Clean { // Clean takes as long as the number of files requires
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.target.timeout)
		defer cancel()
	}
	err := l.call(ctx, j)
	if err == nil || errors.Is(err, errWrong) {
		return err
	}
	reason := err.Error()
	if j.name != "" {
		reason = strings.ReplaceAll(reason, j.name, "NAME")
	}
	var op *net.OpError
	var lost *url.Error
	switch {
	case errors.As(err, &op): // leave out ports, which differ between connections
		return &connectionError{op}
	case errors.Is(err, context.DeadlineExceeded): // our own timeout, not one that a server reports
		return &connectionError{context.DeadlineExceeded}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &connectionError{errStale}
	case errors.As(err, &lost), isReset(err):
		return &connectionError{errors.New(printable(reason))}
	}
	return errors.New(printable(reason))
}

func (l *callerLink) call(ctx context.Context, j *job) (err error) {
	c := l.target.content
	l.body = body{content: c, number: j.number}
	switch j.op {
	case Upload:
		return l.target.caller.Upload(ctx, j.name, &l.body, c.size)
	case Download:
		_, err = l.target.caller.Download(ctx, j.name, &l.body)
		if errors.Is(err, errWrong) || err == nil && l.body.at != c.size {
			return errWrong
		}
	case Exist:
		var exists bool
		if exists, err = l.target.caller.Exist(ctx, j.name); err == nil && !exists {
			return errMissing
		}
	case Delete:
		return l.target.caller.Delete(ctx, j.name)
	case Clean:
		j.files, err = l.target.caller.Clean(ctx, j.name)
	case Bench:
		return l.target.caller.Bench(ctx, c.piece(j.number, 0))
	}
	return err
}

var errMissing = errors.New("the file does not exist")

// body is the content of a file. It can be read, or compared with the bytes written to it.
type body struct {
	content *content
	number  int
	at      int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.at == b.content.size {
		return 0, io.EOF
	}
	n := copy(p, b.content.piece(b.number, b.at))
	b.at += int64(n)
	return n, nil
}

func (b *body) Write(p []byte) (int, error) {
	if !b.content.has(b.number, b.at, p) {
		return 0, errWrong
	}
	b.at += int64(len(p))
	return len(p), nil
}
