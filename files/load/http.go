package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// httpTarget is a server with files below /files/. It uses its own connections: when client and
// server share a machine, the client's processor time is lost to the server. net/http's client starts
// two more goroutines per connection, and fasthttp's copies each body. bench/results/files.md has both.
type httpTarget struct {
	address string // host and port
	secure  *tls.Config
	timeout time.Duration
	buffer  int // bytes of each connection's receive buffer

	path    string // path of the server, before /files/
	headers string // headers of every request
	content *content
}

const (
	dialMax = 10 * time.Second

	// buffersAll is the memory of all buffers together, unless each would be smaller than a
	// head.
	buffersAll = 64 << 20
	bufferMin  = 4 << 10
	bufferMax  = 64 << 10
)

func newHTTPTarget(o Options) (*httpTarget, error) {
	at, err := url.Parse(o.URL)
	if err != nil {
		return nil, &InputError{err}
	}
	t := &httpTarget{
		address: at.Host, timeout: o.Timeout, path: at.EscapedPath(), content: newContent(o.Size),
		buffer: min(max(buffersAll/o.Connections, bufferMin), bufferMax),
	}
	port := "80"
	if at.Scheme == "https" {
		port = "443"
		t.secure = &tls.Config{ServerName: at.Hostname(), NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	}
	if at.Port() == "" {
		t.address = net.JoinHostPort(at.Hostname(), port)
	}
	t.headers = " HTTP/1.1\r\nHost: " + at.Host + "\r\nUser-Agent: muster-load\r\n"
	if o.Token != "" {
		t.headers += "Authorization: Bearer " + o.Token + "\r\n"
	}
	return t, nil
}

func (t *httpTarget) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, min(dialMax, t.timeout))
	defer cancel()
	if t.secure != nil {
		return (&tls.Dialer{Config: t.secure}).DialContext(ctx, "tcp", t.address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", t.address)
}

func (t *httpTarget) reach(ctx context.Context) error {
	conn, err := t.dial(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (t *httpTarget) connect() link { return &httpLink{target: t} }

// httpLink is one connection, which is reopened when it was closed.
type httpLink struct {
	target *httpTarget
	conn   net.Conn // nil = not connected
	in     *bufio.Reader
	until  time.Time   // the deadline of conn
	unhook func() bool // stops watching the context
	used   bool        // conn has received an answer

	head  []byte    // of a request
	parts [2][]byte // head and first piece, written together
}

// do makes a request. If the server closed the idle connection, do reconnects once instead of
// failing.
func (l *httpLink) do(ctx context.Context, j *job) error {
	for {
		if err := l.ready(ctx); err != nil {
			return &connectionError{err}
		}
		used := l.used
		err := l.exchange(j)
		if used && errors.Is(err, errStale) && ctx.Err() == nil {
			continue
		}
		return err
	}
}

// errStale is the error of a connection that ended before the first byte of an answer.
var errStale = errors.New("the connection was closed")

// ready connects if necessary and sets a deadline for the next request.
func (l *httpLink) ready(ctx context.Context) error {
	now := time.Now()
	if l.conn == nil {
		conn, err := l.target.dial(ctx)
		if err != nil {
			return err
		}
		l.conn, l.used, l.until = conn, false, time.Time{}
		if l.in == nil {
			l.in = bufio.NewReaderSize(conn, l.target.buffer)
		}
		l.in.Reset(conn)
		l.unhook = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(now) })
	}
	// Setting a deadline takes longer than checking whether the last one suffices.
	if until := now.Add(l.target.timeout); until.Sub(l.until) > l.target.timeout/64 {
		if err := l.conn.SetDeadline(until); err != nil {
			l.close()
			return err
		}
		l.until = until
	}
	if ctx.Err() != nil { // the context may have ended before the deadline was set
		l.close()
		return ctx.Err()
	}
	return nil
}

func (l *httpLink) close() {
	if l.conn != nil {
		l.unhook()
		_ = l.conn.Close() // nothing more is expected or wanted
		l.conn = nil
	}
}

// exchange sends a request and checks the answer.
func (l *httpLink) exchange(j *job) error {
	sent := l.send(j)
	a, err := l.answer(j.op == Exist)
	if err != nil {
		l.close()
		return &connectionError{err}
	}
	l.used = true
	err = l.check(a, j)
	if sent != nil || a.close || !a.complete() {
		l.close()
	}
	if sent != nil && err == nil {
		return &connectionError{sent}
	}
	return err
}

// send sends a request. Even if that fails, an answer may have come from a server that refuses
// before it has read everything.
func (l *httpLink) send(j *job) error {
	h := l.head[:0]
	h = append(h, method(j.op)...)
	h = append(h, l.target.path...)
	if j.op == Bench {
		h = append(h, "/bench"...)
	} else {
		h = append(h, filesPath...)
		h = append(h, j.name...)
	}
	h = append(h, l.target.headers...)
	if j.op != Upload && j.op != Bench {
		l.head = append(h, "\r\n"...)
		_, err := l.conn.Write(l.head)
		return err
	}
	c := l.target.content
	h = fmt.Appendf(h, "Content-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", c.size)
	l.head = h
	p := c.piece(j.number, 0)
	l.parts = [2][]byte{h, p}
	both := net.Buffers(l.parts[:])
	if _, err := both.WriteTo(l.conn); err != nil {
		return err
	}
	for at := int64(len(p)); at < c.size; at += int64(len(p)) {
		p = c.piece(j.number, at)
		if _, err := l.conn.Write(p); err != nil {
			return err
		}
	}
	return nil
}

const filesPath = "/files/"

func method(op Op) string {
	switch op {
	case Upload:
		return "PUT "
	case Exist:
		return "HEAD "
	case Delete:
		return "DELETE "
	case Bench:
		return "POST "
	}
	return "GET "
}

// check compares an answer with the expected one. It reads only as much of the body as that
// requires.
func (l *httpLink) check(a *answer, j *job) error {
	if a.status < 200 || a.status > 299 {
		return l.refusal(a, j)
	}
	if j.op == Download || j.op == Bench {
		return l.compare(a, j)
	}
	return a.discard()
}

// compare compares the body of an answer with the file's content.
func (l *httpLink) compare(a *answer, j *job) error {
	c, at := l.target.content, int64(0)
	for {
		p, err := a.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return &connectionError{err}
		}
		if !c.has(j.number, at, p) {
			return errWrong
		}
		at += int64(len(p))
	}
	if at != c.size {
		return errWrong
	}
	return nil
}

// errWrong is the error of a body with unexpected content.
var errWrong = errors.New("the received bytes differ from the uploaded ones")

const refusalMax = 160 // quoted bytes of a server's text

// refusal returns the server's reason for not executing a request. It replaces the file's
// name, so that equal refusals have equal texts.
func (l *httpLink) refusal(a *answer, j *job) error {
	reason := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	answer, err := a.next()
	if err == nil {
		answer, _, _ = bytes.Cut(answer, []byte("\n"))
		text := string(answer[:min(len(answer), refusalMax)])
		if j.name != "" {
			text = strings.ReplaceAll(text, j.name, "NAME")
		}
		if text = printable(text); text != "" && !strings.HasPrefix(text, "<") {
			reason += ": " + text
		}
	}
	if err == nil || err == io.EOF {
		_ = a.discard() // on failure the connection is closed
	}
	return errors.New(reason)
}

// printable returns a server's text without control characters, which could move a terminal's
// cursor.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}
