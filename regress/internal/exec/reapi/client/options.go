package client

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/fault"
)

// Options have the address of the engine, and the client's identity and patience. Only URL is
// required.
type Options struct {
	URL      string // grpc://HOST:PORT, or grpcs://HOST[:PORT] with TLS
	Instance string
	Headers  []Header // sent with every request
	// Token is sent with every request, as "Authorization: Bearer TOKEN"; "" = none.
	Token string
	// PlainToken allows the token over grpc:// to other machines too, for networks with their
	// own encryption.
	PlainToken bool
	CA         string // PEM file with trusted certificates, instead of the system's
	Cert, Key  string // PEM files with the client's own certificate and its key

	Version    string // version of this program, for the engine's records
	Invocation string // ID that all requests of one run share
	Priority   int32  // of executions; 0 is the engine's default
	Jobs       int    // executions at once; the client opens enough connections

	Deadline         time.Duration // of a request, and of a stream without progress
	ExecutionTimeout time.Duration // of one execution, including its wait for a worker
	// Silence is the time after which the client asks for a silent execution by its name. If it
	// has no name, although the engine names executions at once, the client requests it anew,
	// after Wait at the earliest.
	Silence time.Duration
	// Wait is the patience with an engine that is away or busy, from the first failure of a
	// request. If it is not set, a wrong address is detected within a second.
	Wait       time.Duration
	Attempts   int           // attempts in a row at one request; 0 = as many as fit into Wait
	Backoff    time.Duration // pause before the second attempt; it grows up to BackoffMax
	BackoffMax time.Duration
	Remember   int  // number of contents that the client remembers as present, at some 60 bytes each
	CacheOnly  bool // the service need not execute: it keeps contents and results

	// Note receives, from any goroutine, a note that muster waits for the engine, and that the
	// engine is back.
	Note func(string)

	// Hooks for tests: how to wait, and how to reach an address.
	Sleep  func(context.Context, time.Duration) error
	Dialer func(ctx context.Context, address string) (net.Conn, error)
}

// Header is a further header of every request.
type Header struct{ Name, Value string }

// withDefaults fills the fields that are not set. The default of Wait is the time in which a
// server restarts.
func (o Options) withDefaults() Options {
	o.Version = cmp.Or(o.Version, "devel")
	o.Invocation = cmp.Or(o.Invocation, uuid.NewString())
	o.Jobs = max(o.Jobs, 1)
	o.Deadline = cmp.Or(o.Deadline, time.Minute)
	o.ExecutionTimeout = cmp.Or(o.ExecutionTimeout, time.Hour)
	o.Silence = cmp.Or(o.Silence, time.Minute)
	o.Wait = cmp.Or(o.Wait, 30*time.Second)
	o.Backoff = cmp.Or(o.Backoff, 100*time.Millisecond)
	o.BackoffMax = cmp.Or(o.BackoffMax, 5*time.Second)
	o.Attempts = cmp.Or(o.Attempts, o.attempts())
	o.Remember = cmp.Or(o.Remember, 1<<19)
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

// attempts returns how many attempts fit into Wait, with the shortest pauses between them.
func (o Options) attempts() int {
	n := 2
	for sum, next := time.Duration(0), o.Backoff; sum < o.Wait; next = min(2*next, o.BackoffMax) {
		sum += next / 2
		n++
	}
	return n
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

type address struct {
	target string // in gRPC's form
	host   string
	secure bool
}

func (o Options) address() (address, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		return address{}, fault.Inputf("%q is not the address of an engine, which speaks gRPC: %s://HOST:PORT", u.Redacted(), strings.Replace(u.Scheme, "http", "grpc", 1))
	case err != nil && strings.Contains(o.URL, "@"): // it may contain a password
		return address{}, fault.Inputf("what was given is not the address of an engine: grpc://HOST:PORT or grpcs://HOST:PORT")
	case err != nil:
		return address{}, fault.Inputf("%q is not the address of an engine: grpc://HOST:PORT or grpcs://HOST:PORT", o.URL)
	case u.Scheme != "grpc" && u.Scheme != "grpcs" || u.Hostname() == "":
		return address{}, fault.Inputf("%q is not the address of an engine: grpc://HOST:PORT or grpcs://HOST:PORT", u.Redacted())
	case u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return address{}, fault.Inputf("%s: only a host and a port belong into the address of an engine; an instance is named apart", u.Redacted())
	}
	at := address{host: u.Hostname(), secure: u.Scheme == "grpcs"}
	port := u.Port()
	if port == "" {
		if !at.secure {
			return address{}, fault.Inputf("%s names no port: grpc://HOST:PORT", o.URL)
		}
		port = "443"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return address{}, fault.Inputf("%s: no port has the number %s", o.URL, port)
	}
	resolver := "dns:///"
	if o.Dialer != nil {
		resolver = "passthrough:///"
	}
	at.target = resolver + net.JoinHostPort(strings.ReplaceAll(at.host, "%", "%25"), port)
	return at, o.checkSecrets(at)
}

// checkSecrets refuses to send the token unencrypted, and TLS options without TLS.
func (o Options) checkSecrets(at address) error {
	ip := net.ParseIP(at.host)
	here := at.host == "localhost" || strings.HasSuffix(at.host, ".localhost") || ip != nil && ip.IsLoopback()
	switch {
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r < ' ' || r > '~' }):
		return fault.Inputf("the token has bytes that no header can have, a line's end perhaps")
	case o.Token != "" && !at.secure && !here && !o.PlainToken:
		return fault.Inputf("%s: the token would cross the network unencrypted: use grpcs://, or set MUSTER_REMOTE_TOKEN_PLAIN=1 on a network that is trusted", o.URL)
	case !at.secure && o.CA+o.Cert+o.Key != "":
		return fault.Inputf("%s: tls-ca, tls-cert and tls-key of [engine] are for grpcs://", o.URL)
	case (o.Cert == "") != (o.Key == ""):
		return fault.Inputf("a client's certificate and its key belong together: tls-cert and tls-key of [engine]")
	}
	return nil
}

// hintOf suggests a remedy for a failed request, in the words of the command line, or explains
// the error. It returns "" if it knows neither.
func (o Options) hintOf(p purpose, s *status.Status) string {
	switch code := s.Code(); {
	case p == learning && (code == codes.InvalidArgument || code == codes.NotFound) && o.Instance == "":
		return "; it may need the name of an instance: the key instance of [engine]"
	case p == learning && (code == codes.InvalidArgument || code == codes.NotFound):
		return "; perhaps it has no instance " + o.Instance + ": the key instance of [engine] names another"
	case p == learning && code == codes.DeadlineExceeded:
		return "; nothing was answered: is it the engine's host and port, and has the engine a thread left? a longer wait in [engine] is more patient"
	case p == learning && code == codes.Unimplemented:
		return "; the server at that port is not an engine of the Remote Execution API: is it another port?"
	case (p == executing || p == gettingResult) && tooLarge(s):
		return "; its answer has all that a case printed: let the command print less"
	case p == executing && code == codes.Unimplemented:
		return "; it stores contents and runs nothing: --remote must name an engine with workers"
	case p == executing && code == codes.FailedPrecondition && len(violations(s)) == 0:
		return "; if no worker fits, the key platform of [engine] names what a worker must have"
	}
	return o.hint(s)
}

// hint is independent of the request.
func (o Options) hint(s *status.Status) string {
	if h := o.tlsHint(s.Message()); h != "" {
		return "; " + h
	}
	switch s.Code() {
	case codes.Unauthenticated:
		if o.Token == "" && len(o.Headers) == 0 {
			return "; it wants a token: in MUSTER_REMOTE_TOKEN, or as a header in MUSTER_REMOTE_HEADER"
		}
		return "; it refused the token: MUSTER_REMOTE_TOKEN or MUSTER_REMOTE_HEADER has another"
	case codes.PermissionDenied:
		return "; whose token this is (MUSTER_REMOTE_TOKEN, MUSTER_REMOTE_HEADER) may not do that, or not with this instance"
	case codes.ResourceExhausted:
		return "; fewer jobs in [engine] ask for less at once, a longer wait in [engine] is more patient"
	case codes.Unavailable, codes.DeadlineExceeded:
		return "; is it running, and reachable from here? a longer wait in [engine] is more patient"
	}
	return ""
}

// tlsHint recognises the words of Go's TLS, because gRPC passes on only a text.
func (o Options) tlsHint(text string) string {
	switch {
	case refusedByTLS(text) && strings.HasPrefix(o.URL, "grpcs:"):
		return "tls-ca of [engine] names the certificates to trust, tls-cert and tls-key this client's; --remote must name the host of the certificate, and begin with grpc:// where no TLS is spoken"
	case hasAny(text, "server preface", "handshake failed", "broken pipe", "connection reset"):
		return "grpcs:// in --remote speaks TLS and grpc:// does not; tls-cert and tls-key of [engine] name a client's certificate, if the engine wants one"
	}
	return ""
}

// A purpose names a request in errors.
type purpose string

const (
	connecting    purpose = "connecting"
	learning      purpose = "asking what it can do"
	gettingResult purpose = "asking for a result"
	findingBlobs  purpose = "asking for contents"
	sendingBlobs  purpose = "sending contents"
	sendingBlob   purpose = "sending a content"
	sendingResult purpose = "sending a result"
	executing     purpose = "executing"
	readingBlobs  purpose = "reading contents"
	readingBlob   purpose = "reading a content"
)
