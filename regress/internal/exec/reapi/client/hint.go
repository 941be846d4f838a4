package client

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// hintOf suggests a remedy for a failed request, in the words of the command line, or explains
// the error. It returns "" if it knows neither.
func (o Options) hintOf(p purpose, s *status.Status) string {
	switch code := s.Code(); {
	case p == learning && (code == codes.InvalidArgument || code == codes.NotFound) && o.Instance == "":
		return "; it may need the name of an instance: --instance"
	case p == learning && (code == codes.InvalidArgument || code == codes.NotFound):
		return "; perhaps it has no instance " + o.Instance + ": --instance names another"
	case p == learning && code == codes.Unavailable && o.cutOff(s.Message()):
		return "; perhaps it wants a client's certificate, or another: --tls-cert and --tls-key"
	case p == learning && code == codes.DeadlineExceeded:
		return "; nothing was answered: is it the engine's host and port, and has the engine a thread left? a longer --remote-wait is more patient"
	case p == learning && code == codes.Unimplemented:
		return "; the server at that port is not an engine of the Remote Execution API: is it another port?"
	case p == executing && code == codes.Unimplemented:
		return "; it stores contents and runs nothing: --remote must name an engine with workers"
	case p == executing && code == codes.FailedPrecondition && strings.Contains(strings.ToLower(s.Message()), "worker"):
		return "; --platform names what a worker must have"
	case (p == executing || p == gettingResult) && tooLarge(s.Err()):
		return "; its answer, in which it sends what a case printed though it is asked not to, is larger than the 16 MiB that muster takes"
	case strings.Contains(s.Message(), "looked like an HTTP/1.1 header"):
		return "; a web server answers there, and no engine: is it another port?"
	case code == codes.Unavailable && hasAny(s.Message(), "produced zero addresses", "no such host"):
		return "; no machine of this name is known here"
	}
	return o.hint(s)
}

// hint is independent of the request.
func (o Options) hint(s *status.Status) string {
	if h := o.tlsHint(s.Message()); h != "" {
		return "; " + h
	}
	if full(s.Message()) {
		return "; its store has too little room for this, or is full"
	}
	switch s.Code() {
	case codes.Unauthenticated:
		if o.Token == "" && len(o.Headers) == 0 {
			return "; it wants a token: in MUSTER_REMOTE_TOKEN, or by --remote-header"
		}
		return "; it refused the token: MUSTER_REMOTE_TOKEN or --remote-header has another"
	case codes.PermissionDenied:
		return "; whose token this is (MUSTER_REMOTE_TOKEN, --remote-header) may not do that, or not with this --instance"
	case codes.ResourceExhausted:
		return "; fewer --remote-jobs ask for less at once, a longer --remote-wait is more patient"
	case codes.Unavailable, codes.DeadlineExceeded:
		return "; is it running, and reachable from here? a longer --remote-wait is more patient"
	}
	return ""
}

// cutOff reports whether a server closed the connection after the handshake. A server refuses a
// client's certificate at that point, and its reason may be lost with the connection.
func (o Options) cutOff(text string) bool {
	return hasAny(text, "broken pipe", "connection reset", "server preface: EOF") && strings.HasPrefix(o.URL, "grpcs:") && !strings.Contains(text, "handshake failed")
}

// full recognises an engine without room by its words, because no status means that.
func full(text string) bool {
	return hasAny(strings.ToLower(text), "outofspace", "out of space", "no space left", "storage allocation", "storage quota")
}

// tlsHint recognises the words of Go's TLS and of servers' answers, because gRPC passes on only
// a text.
func (o Options) tlsHint(text string) string {
	has := func(signs ...string) bool { return hasAny(text, signs...) }
	switch {
	case has("unknown authority", "not standards compliant"):
		return "--tls-ca names the file with the certificates to trust"
	case has("certificate has expired or is not yet valid"):
		return "the engine needs another certificate, or this machine's clock is wrong"
	case has("certificate is valid for", "doesn't contain any IP SANs", "not valid for any names"):
		return "--remote must name the host that the certificate is for"
	case has("remote error: tls: certificate required", "remote error: tls: handshake failure", "remote error: tls: bad certificate") && o.Cert == "":
		return "the engine wants a client's certificate: --tls-cert and --tls-key"
	case has("remote error: tls:"):
		return "the engine does not take this client's certificate: --tls-cert and --tls-key name another"
	case has("first record does not look like a TLS handshake", "authentication handshake failed"):
		return "if no TLS is spoken there it is grpc:// in --remote"
	case has("server preface") && strings.HasPrefix(o.URL, "grpc:"):
		return "if TLS is spoken there it is grpcs:// in --remote"
	}
	return ""
}
