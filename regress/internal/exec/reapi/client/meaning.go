package client

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What requests are for, as errors say it.
const (
	learning  = "asking what it can do"
	executing = "executing"
)

// meaning says of an error, for people who know neither gRPC nor the engine, what it means
// and what may help, before the engine's own words; "" where these have to do.
func (o Options) meaning(what string, s *status.Status) string {
	text := s.Message()
	switch s.Code() {
	case codes.Unauthenticated:
		return o.who("it refused the token") + ": "
	case codes.PermissionDenied:
		return o.who("who has this token may not do that there") + ": "
	case codes.Unavailable:
		return o.unreachable(text)
	case codes.DeadlineExceeded:
		return "it does not answer in time: "
	case codes.FailedPrecondition, codes.ResourceExhausted:
		if what == executing && strings.Contains(strings.ToLower(text), "worker") {
			return "it has no worker for this (--platform says what one must have): "
		}
	case codes.Unimplemented:
		return unimplemented(what)
	case codes.InvalidArgument, codes.NotFound:
		if what == learning {
			return o.unknownInstance() + ": "
		}
	}
	return ""
}

// who says what of the user is not right.
func (o Options) who(token string) string {
	switch {
	case o.Token != "":
		return token
	case len(o.Headers) > 0 || o.Cert != "":
		return "what tells it who asks is not enough (MUSTER_TOKEN, --remote-header, --tls-cert)"
	}
	return "it wants to know who asks (MUSTER_TOKEN, --remote-header or --tls-cert)"
}

func (o Options) unreachable(text string) string {
	has := func(signs ...string) bool {
		for _, sign := range signs {
			if strings.Contains(text, sign) {
				return true
			}
		}
		return false
	}
	switch {
	case has("first record does not look like a TLS handshake"):
		return "no secure connection: no TLS is spoken there (is it grpc://?): "
	case has("unknown authority", "not trusted", "self-signed"):
		return "no secure connection: nobody whom this machine trusts has signed its certificate (--tls-ca names who has): "
	case has("certificate required", "bad certificate", "unknown certificate"):
		return "no secure connection: it does not take this client's certificate, or wants one (--tls-cert, --tls-key): "
	case refusedByTLS(text):
		return "no secure connection: "
	case has("looked like an HTTP/1.1 header"):
		return "a web server answers there, and no engine (is it another port?): "
	case has("server preface"):
		return "no gRPC without TLS is spoken there (is it grpcs://?): "
	case has("connection refused"):
		return "nothing listens there (is the engine running, and is this its port?): "
	case has("produced zero addresses", "no such host"):
		return "no machine of this name is known: "
	case has("i/o timeout", "no route to host", "network is unreachable"):
		return "the machine cannot be reached: "
	}
	return ""
}

func unimplemented(what string) string {
	switch what {
	case learning:
		return "what listens there is no engine of the Remote Execution API (is it another port?): "
	case executing:
		return "it stores contents and runs nothing: "
	}
	return ""
}

func (o Options) unknownInstance() string {
	if o.Instance == "" {
		return "it wants to be told which of its instances (--instance NAME)"
	}
	return "it has no instance " + o.Instance + " (--instance)"
}
