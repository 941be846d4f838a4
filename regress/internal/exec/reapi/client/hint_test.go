package client_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// An error has the engine's own words, without gRPC's around them, and then what it means to
// somebody who knows neither.
func TestErrorsSayWhatTheyMean(t *testing.T) {
	for _, c := range []struct {
		o    client.Options
		code codes.Code
		want string
	}{
		{client.Options{}, codes.Unauthenticated, "Unauthenticated: words; it wants a token"},
		{client.Options{Token: "secret"}, codes.Unauthenticated, "Unauthenticated: words; it refused the token"},
		{client.Options{}, codes.InvalidArgument, "InvalidArgument: words; it may need the name of an instance: the key instance of [engine]"},
		{client.Options{Instance: "prod"}, codes.NotFound, "perhaps it has no instance prod"},
		{client.Options{}, codes.Unimplemented, "Unimplemented: words; the server at that port is not an engine of the Remote Execution API"},
		{client.Options{}, codes.AlreadyExists, "asking what it can do: AlreadyExists: words"},
	} {
		e := reapitest.New(reapitest.Options{Fault: func(context.Context, reapitest.Call) error { return status.Error(c.code, "words") }})
		dial, stop := e.Memory()
		c.o.URL, c.o.Dialer, c.o.Sleep = "grpc://localhost:1", dial, (&rig{}).sleep
		_, err := client.Dial(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "rpc error") {
			t.Errorf("%v: %v, want %q", c.code, err, c.want)
		}
		stop()
	}
}

// An engine without Execution, or without a worker that fits, is told by the first execution.
func TestErrorsOfExecutions(t *testing.T) {
	for want, err := range map[string]error{
		"; it stores contents and runs nothing":                                           status.Error(codes.Unimplemented, "unknown service Execution"),
		"; if no worker fits, the key platform of [engine] names what a worker must have": status.Error(codes.FailedPrecondition, "No workers exist for platform {}"),
		"; its answer has all that a case printed: let the command print less":            status.Error(codes.ResourceExhausted, "grpc: received message larger than max (20971709 vs. 16777216)"),
	} {
		r := newRig(t, reapitest.Options{Fault: func(_ context.Context, c reapitest.Call) error {
			if c.Method == "Execute" {
				return err
			}
			return nil
		}}, client.Options{})
		_, got := r.Execute(t.Context(), client.Execution{Action: r.action("true")})
		if got == nil || r.engine.Calls("Execute") != 1 || !strings.Contains(got.Error(), "executing: "+status.Code(err).String()+": "+status.Convert(err).Message()+want) {
			t.Errorf("%v, want %q", got, want)
		}
	}
}

func TestErrorsOfAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"error reading server preface: EOF": "grpcs:// in --remote speaks TLS and grpc:// does not",
	} {
		_, err := client.Dial(t.Context(), client.Options{
			URL: "grpc://localhost:1", Sleep: (&rig{}).sleep,
			Dialer: func(context.Context, string) (net.Conn, error) { return nil, status.Error(codes.Unavailable, text) },
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := client.Dial(t.Context(), client.Options{URL: "https://host:1"}); err == nil || !strings.Contains(err.Error(), "gRPC: grpcs://HOST:PORT") {
		t.Error(err)
	}
}
