package reapitest

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Moment is a point in a request at which a fault can occur.
type Moment int

// The moments in their order. A stream has some of them several times.
const (
	Begin    Moment = iota
	Received        // a message came, and nothing was done with it
	Sending         // a message is about to be sent
	End             // everything is done, and the client does not know it
)

// Call is one moment of one request.
type Call struct {
	Method  string // name without the service, such as "Execute"
	Number  int    // number of the request among those of its method, from 1
	Moment  Moment
	Message int // number of the message that came or goes, from 1
}

// Calls returns the number of requests of a method so far.
func (e *Engine) Calls(method string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls[method]
}

func (e *Engine) fault(ctx context.Context, c Call) error {
	if e.o.Fault == nil {
		return nil
	}
	return e.o.Fault(ctx, c)
}

func (e *Engine) begin(full string) Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	method := path.Base(full)
	e.calls[method]++
	return Call{Method: method, Number: e.calls[method]}
}

func (e *Engine) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	c := e.begin(info.FullMethod)
	if err := cmp.Or(checkMetadata(ctx), e.validate(req), e.fault(ctx, c)); err != nil {
		return nil, err
	}
	reply, err := handle(ctx, req)
	if c.Moment = End; err == nil {
		err = e.fault(ctx, c)
	}
	return reply, err
}

func (e *Engine) stream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	c := e.begin(info.FullMethod)
	if err := cmp.Or(checkMetadata(s.Context()), e.fault(s.Context(), c)); err != nil {
		return err
	}
	err := handle(srv, &faultyStream{ServerStream: s, e: e, c: c})
	if c.Moment = End; err == nil {
		err = e.fault(s.Context(), c)
	}
	return err
}

// A faultyStream stream reports its messages to Options.Fault. One goroutine uses it, and receives
// and sends in turns.
type faultyStream struct {
	grpc.ServerStream
	e              *Engine
	c              Call
	received, sent int
}

func (w *faultyStream) RecvMsg(m any) error {
	if err := w.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	w.received++
	w.c.Moment, w.c.Message = Received, w.received
	return cmp.Or(w.e.validate(m), w.e.fault(w.Context(), w.c))
}

func (w *faultyStream) SendMsg(m any) error {
	w.sent++
	w.c.Moment, w.c.Message = Sending, w.sent
	if err := w.e.fault(w.Context(), w.c); err != nil {
		return err
	}
	return w.ServerStream.SendMsg(m)
}

// Folder returns a Run for commands that leave a folder of empty files. The engine returns that
// folder on request, but never the whole work folder.
func Folder(at string, files ...string) func(context.Context, *Engine, *repb.Action, *repb.Command) *repb.ExecuteResponse {
	root := &repb.Directory{}
	for _, name := range slices.Sorted(slices.Values(files)) {
		root.Files = append(root.Files, &repb.FileNode{Name: name, Digest: DigestOf(nil).Proto()})
	}
	return func(_ context.Context, e *Engine, _ *repb.Action, c *repb.Command) *repb.ExecuteResponse {
		result := &repb.ActionResult{}
		if packed, err := proto.Marshal(&repb.Tree{Root: root}); err == nil && slices.Contains(c.GetOutputPaths(), at) {
			result.OutputDirectories = []*repb.OutputDirectory{{Path: at, TreeDigest: e.Put(packed).Proto()}}
		}
		return &repb.ExecuteResponse{Result: result}
	}
}

// ServeFolder serves an engine on which every command leaves a folder with these empty files.
// It runs until the test ends. It returns the URL.
func ServeFolder(t *testing.T, folder string, files ...string) string {
	t.Helper()
	e := New(Options{Run: Folder(folder, files...)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := e.Serve(l)
	t.Cleanup(func() {
		stop()
		e.Close()
	})
	return "grpc://" + l.Addr().String()
}

// Installed starts an installed real engine at a port of this machine, with its files in
// folder. script is the path of scripts/remote-engine. The engine ends with the test, or
// earlier by the returned function. If no engine is installed the test is skipped, unless
// MUSTER_REQUIRE is all.
func Installed(t *testing.T, script, port, folder string) (stop func()) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the engine is a program for Linux")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, script, "run", port, folder)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it was killed
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	for {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			return stop
		}
		select {
		case <-ended:
			if os.Getenv("MUSTER_REQUIRE") == "all" || !strings.Contains(output.String(), "not installed") {
				t.Fatal(output.String())
			}
			t.Skip(output.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// FreePort returns a port that is free now.
func FreePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// messageMax is gRPC's default limit of a message, in bytes.
const messageMax = 4 << 20

// upload matches the name of an upload, which has a UUID of version 4.
var upload = regexp.MustCompile(`^(.+/)?uploads/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/(compressed-blobs/zstd|blobs)/[0-9a-f]{64}/[0-9]+$`)

// checkMetadata refuses a request without a client's metadata.
func checkMetadata(ctx context.Context) error {
	about := &repb.RequestMetadata{}
	sent := metadata.ValueFromIncomingContext(ctx, "build.bazel.remote.execution.v2.requestmetadata-bin")
	if len(sent) != 1 || proto.Unmarshal([]byte(sent[0]), about) != nil ||
		about.GetToolDetails().GetToolName() == "" || about.GetToolDetails().GetToolVersion() == "" || about.GetToolInvocationId() == "" {
		return status.Errorf(codes.InvalidArgument, "the request does not say who asks: %v", about)
	}
	return nil
}

// validate refuses a request that breaks the API's rules by itself.
func (e *Engine) validate(req any) error {
	if m, ok := req.(proto.Message); ok && proto.Size(m) > messageMax {
		return status.Errorf(codes.InvalidArgument, "a message of %d bytes", proto.Size(m))
	}
	if m, ok := req.(interface{ GetInstanceName() string }); ok && m.GetInstanceName() != e.o.Instance {
		return status.Errorf(codes.InvalidArgument, "no instance %q", m.GetInstanceName())
	}
	if m, ok := req.(interface {
		GetDigestFunction() repb.DigestFunction_Value
	}); ok && m.GetDigestFunction() != repb.DigestFunction_SHA256 {
		return status.Errorf(codes.InvalidArgument, "digests by %v", m.GetDigestFunction())
	}
	if m, ok := req.(*bytestream.WriteRequest); ok && m.GetResourceName() != "" && !upload.MatchString(m.GetResourceName()) {
		return status.Errorf(codes.InvalidArgument, "resource %q", m.GetResourceName())
	}
	return nil
}
