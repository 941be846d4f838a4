package client_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/exec/reapi/enginetest"
)

// An error says what it means to somebody who knows neither gRPC nor the engine, and then
// the engine's own words, without those of gRPC around them.
func TestErrorsSayWhatTheyMean(t *testing.T) {
	for _, c := range []struct {
		o    client.Options
		code codes.Code
		said string
		want string
	}{
		{client.Options{}, codes.Unauthenticated, "no key", "it wants to know who asks (MUSTER_TOKEN, --remote-header or --tls-cert): Unauthenticated: no key"},
		{client.Options{Token: "t"}, codes.Unauthenticated, "no key", "it refused the token: Unauthenticated: no key"},
		{client.Options{Headers: []client.Header{{Name: "k", Value: "v"}}}, codes.PermissionDenied, "no", "what tells it who asks is not enough"},
		{client.Options{}, codes.InvalidArgument, "instance", "it wants to be told which of its instances (--instance NAME): InvalidArgument: instance"},
		{client.Options{Instance: "prod"}, codes.NotFound, "instance", "it has no instance prod (--instance): NotFound: instance"},
		{client.Options{}, codes.Unimplemented, "unknown service", "what listens there is no engine of the Remote Execution API"},
		{client.Options{}, codes.Internal, "a bug of its own", "asking what it can do: Internal: a bug of its own"},
	} {
		e := enginetest.New(enginetest.Options{Fault: func(context.Context, enginetest.Call) error { return status.Error(c.code, c.said) }})
		dial, stop := e.Memory()
		c.o.URL, c.o.Dialer, c.o.Sleep = "grpc://localhost:1", dial, (&rig{}).sleep
		_, err := client.Dial(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "rpc error") {
			t.Errorf("%v of %q: %v, want %q", c.code, c.said, err, c.want)
		}
		stop()
	}
}

// An engine without Execution, or without a worker that fits, is told by the first execution.
func TestErrorsOfExecutions(t *testing.T) {
	for want, err := range map[string]error{
		"executing: it stores contents and runs nothing: Unimplemented: ":                     status.Error(codes.Unimplemented, "unknown service Execution"),
		"executing: it has no worker for this (--platform says what one must have): FailedPr": status.Error(codes.FailedPrecondition, "No workers exist for platform {}"),
	} {
		r := newRig(t, enginetest.Options{Fault: func(_ context.Context, c enginetest.Call) error {
			if c.Method == "Execute" {
				return err
			}
			return nil
		}}, client.Options{})
		_, got := r.Execute(t.Context(), client.Execution{Action: r.action("true")})
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%v, want %q", got, want)
		}
	}
}

// What cannot be reached says which of the many reasons it is.
func TestErrorsOfAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"connect: connection refused":                                  "nothing listens there",
		"name resolver error: produced zero addresses":                 "no machine of this name is known",
		"dial tcp: i/o timeout":                                        "the machine cannot be reached",
		"tls: first record does not look like a TLS handshake":         "is it grpc://?",
		"x509: certificate signed by unknown authority":                "--tls-ca",
		"remote error: tls: certificate required":                      "--tls-cert",
		"x509: certificate has expired or is not yet valid":            "no secure connection: Unavailable",
		"error reading server preface: EOF":                            "is it grpcs://?",
		"error reading server preface: looked like an HTTP/1.1 header": "a web server answers there",
	} {
		_, err := client.Dial(t.Context(), client.Options{
			URL: "grpc://localhost:1", Sleep: (&rig{}).sleep,
			Dialer: func(context.Context, string) (net.Conn, error) { return nil, status.Error(codes.Unavailable, text) },
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
