package client

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// hint is what may mend an error, in the words of the command line; "" is nothing.
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
			return "; it wants a token: in MUSTER_TOKEN, or by --remote-header"
		}
		return "; it refused the token: MUSTER_TOKEN or --remote-header has another"
	case codes.PermissionDenied:
		return "; whose token this is (MUSTER_TOKEN, --remote-header) may not do that, or not with this --instance"
	case codes.ResourceExhausted:
		return "; fewer --remote-jobs ask for less at once, a longer --remote-wait is more patient"
	case codes.Unavailable, codes.DeadlineExceeded:
		return "; is it running, and reachable from here? a longer --remote-wait is more patient"
	}
	return ""
}

// full tells an engine without room by its words, for which there is no status.
func full(text string) bool {
	text = strings.ToLower(text)
	for _, sign := range []string{"outofspace", "out of space", "no space left", "storage allocation", "storage quota"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// tlsHint knows the words of Go's TLS and of what servers answer, for gRPC has no more than
// a text.
func (o Options) tlsHint(text string) string {
	has := func(signs ...string) bool {
		for _, sign := range signs {
			if strings.Contains(text, sign) {
				return true
			}
		}
		return false
	}
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
	case has("authentication handshake failed"):
		return "if no TLS is spoken there it is grpc:// in --remote"
	case has("server preface") && !strings.HasPrefix(o.URL, "grpc:"):
		return "perhaps it wants a client's certificate, or another: --tls-cert and --tls-key"
	case has("server preface"):
		return "if TLS is spoken there it is grpcs:// in --remote"
	}
	return ""
}
