package client_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"muster/regress"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		o    client.Options
		want string // in the error
	}{
		{client.Options{URL: "http://host:1"}, "is not the address of an engine"},
		{client.Options{URL: "host:1"}, "is not the address of an engine"},
		{client.Options{URL: "grpc://"}, "is not the address of an engine"},
		{client.Options{URL: "grpc://host"}, "names no port"},
		{client.Options{URL: "grpc://host:1/main"}, "an instance is named apart"},
		{client.Options{URL: "grpc://me:secret@host:1"}, "grpc://me:xxxxx@host:1: only a host and a port"},
		{client.Options{URL: "grpc://host:1", Token: "secret"}, "unencrypted"},
		{client.Options{URL: "grpc://localhost.example:1", Token: "secret"}, "unencrypted"},
		{client.Options{URL: "https://me:secret@host:1"}, "is not the address of an engine"},
		{client.Options{URL: "grpc://me:sec ret secret@host:1"}, "is not the address of an engine"},
		{client.Options{URL: "grpc://host:0"}, "no port"},
		{client.Options{URL: "grpc://host:99999"}, "no port"},
		{client.Options{URL: "grpcs://host", Token: "secret\n"}, "no header can have"},
		{client.Options{URL: "grpc://host:1", CA: "ca.pem"}, "for grpcs://"},
		{client.Options{URL: "grpcs://host", Cert: "me.pem"}, "belong together"},
		{client.Options{URL: "grpcs://host", CA: "none.pem"}, "none.pem"},
	} {
		_, err := client.Dial(t.Context(), c.o)
		if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

// Nothing is asked of an engine that cannot do what is needed, and the error says which and what.
func TestCapabilities(t *testing.T) {
	for _, c := range []struct {
		can      func(*repb.ServerCapabilities)
		priority int32
		want     string
	}{
		{func(c *repb.ServerCapabilities) { c.ExecutionCapabilities = nil }, 0, "does not execute actions"},
		{func(c *repb.ServerCapabilities) { c.CacheCapabilities = nil }, 0, "has no content store at this address"},
		{func(c *repb.ServerCapabilities) {
			c.CacheCapabilities.DigestFunctions = []repb.DigestFunction_Value{repb.DigestFunction_BLAKE3}
		}, 0, "muster has no others"},
		{func(c *repb.ServerCapabilities) {
			c.ExecutionCapabilities.DigestFunctions = []repb.DigestFunction_Value{repb.DigestFunction_SHA1}
		}, 0, "muster has no others"},
		{func(c *repb.ServerCapabilities) { c.LowApiVersion = &semver.SemVer{Major: 3} }, 0, "another version"},
		{func(c *repb.ServerCapabilities) { c.HighApiVersion = &semver.SemVer{Major: 2} }, 0, "muster needs 2.1 or later"},
		{func(c *repb.ServerCapabilities) {
			c.ExecutionCapabilities.ExecutionPriorityCapabilities = &repb.PriorityCapabilities{
				Priorities: []*repb.PriorityCapabilities_PriorityRange{{MinPriority: 0, MaxPriority: 2}}}
		}, 7, "priority"},
		{func(c *repb.ServerCapabilities) { c.ExecutionCapabilities.DigestFunctions = nil }, 7, ""},
	} {
		e := reapitest.New(reapitest.Options{Can: c.can})
		dial, stop := e.Memory()
		got, err := client.Dial(t.Context(), client.Options{URL: "grpc://engine:8980", Dialer: dial, Priority: c.priority})
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want == "":
			got.Close()
		case err == nil:
			got.Close()
			t.Errorf("an engine that %s was taken", c.want)
		case regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "grpc://engine:8980"):
			t.Errorf("%v, want %q", err, c.want)
		}
		stop()
	}
}

// The engine is told who asks, with each request.
func TestMetadata(t *testing.T) {
	const name = "build.bazel.remote.execution.v2.requestmetadata-bin"
	said := make(chan metadata.MD, 100)
	r := newRig(t, reapitest.Options{Fault: func(ctx context.Context, c reapitest.Call) error {
		if md, _ := metadata.FromIncomingContext(ctx); c.Method == "Execute" && c.Moment == reapitest.Begin {
			said <- md
		}
		return nil
	}}, client.Options{Token: "secret", Headers: []client.Header{{Name: "x-key", Value: "v"}}, Version: "1.2", Invocation: "run-7"})
	action := r.action("true")
	_, err := r.Execute(t.Context(), client.Execution{Action: action})
	r.must(err)
	md, about := <-said, &repb.RequestMetadata{}
	r.must(proto.Unmarshal([]byte(md.Get(name)[0]), about))
	if about.ActionId != action.Hash.String() || about.ToolInvocationId != "run-7" || about.ToolDetails.ToolName != "muster" || about.ToolDetails.ToolVersion != "1.2" {
		t.Errorf("metadata %v", about)
	}
	if md.Get("authorization")[0] != "Bearer secret" || md.Get("x-key")[0] != "v" {
		t.Errorf("headers %v", md)
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = client.Dial(t.Context(), client.Options{URL: "grpc://" + l.Addr().String(), Sleep: func(context.Context, time.Duration) error { return nil }})
	if regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), l.Addr().String()) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}
