// Package reapitest is an engine of the Remote Execution API in memory, for tests of clients: a
// content store, an action cache, and executions by a function, with faults on demand. It also
// starts a real engine if one is installed.
//
// It must not be part of the program, nor do more than the API's description allows.
package reapitest

import (
	"context"
	"net"
	"sync"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/test/bufconn"
)

// Options of an engine. The zero value is an engine without faults.
type Options struct {
	// Run executes an action and returns its result. Without it, an action prints its arguments
	// to standard output. ctx ends with the engine.
	Run func(ctx context.Context, e *Engine, action *repb.Action, command *repb.Command) *repb.ExecuteResponse
	// Can changes the capabilities that the engine reports.
	Can func(*repb.ServerCapabilities)
	// Fault is called at each Moment of each request. An error ends the request with it.
	// Several goroutines may call it at once, and it may block to delay the request.
	Fault func(context.Context, Call) error
	// Refuse is called for each content of a batch. An error is the answer for that content.
	Refuse func(method string, d Digest) error
	// Lie changes a content that is read.
	Lie func(d Digest, data []byte) []byte

	Instance  string     // the only instance
	BatchMax  int64      // bytes of a batch; 0 = the engine states no limit
	Zstd      bool       // whether contents may be compressed with this method
	Silent    bool       // executions have no name, and no stages before the result
	MissingAs codes.Code // status for missing inputs; 0 = FAILED_PRECONDITION, with details
	Server    []grpc.ServerOption
}

// Engine serves until it is closed. Any goroutine may call its methods at any time.
type Engine struct {
	repb.UnimplementedContentAddressableStorageServer
	repb.UnimplementedActionCacheServer
	repb.UnimplementedExecutionServer
	repb.UnimplementedCapabilitiesServer
	bytestream.UnimplementedByteStreamServer
	longrunningpb.UnimplementedOperationsServer

	o     Options
	zip   *zstd.Encoder
	unzip *zstd.Decoder
	life  context.Context
	end   context.CancelFunc
	group sync.WaitGroup

	mu         sync.Mutex
	contents   map[Digest][]byte
	partial    map[string][]byte // uploads in progress, by resource
	results    map[Digest]*repb.ActionResult
	operations map[string]*operation
	started    int // number of operations, for their names
	cancelled  []string
	calls      map[string]int
}

// New returns an engine. Serve starts a server for it.
func New(o Options) *Engine {
	e := &Engine{
		o: o, contents: map[Digest][]byte{}, partial: map[string][]byte{}, results: map[Digest]*repb.ActionResult{},
		operations: map[string]*operation{}, calls: map[string]int{},
	}
	// neither fails without options
	e.zip, _ = zstd.NewWriter(nil)
	e.unzip, _ = zstd.NewReader(nil)
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Serve answers on l. It returns a function that stops the server and cuts requests off. The
// engine keeps its contents, so it can be served again, as after a restart.
func (e *Engine) Serve(l net.Listener) (stop func()) {
	options := append([]grpc.ServerOption{grpc.UnaryInterceptor(e.unary), grpc.StreamInterceptor(e.stream), grpc.MaxRecvMsgSize(messageMax)}, e.o.Server...)
	s := grpc.NewServer(options...)
	repb.RegisterContentAddressableStorageServer(s, e)
	repb.RegisterActionCacheServer(s, e)
	repb.RegisterExecutionServer(s, e)
	repb.RegisterCapabilitiesServer(s, e)
	bytestream.RegisterByteStreamServer(s, e)
	longrunningpb.RegisterOperationsServer(s, e)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) }) // its error only means that it was stopped
	return func() {
		s.Stop()
		serving.Wait()
	}
}

// Memory serves without a network. dial connects clients to it.
func (e *Engine) Memory() (dial func(context.Context, string) (net.Conn, error), stop func()) {
	l := bufconn.Listen(1 << 16)
	return func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }, e.Serve(l)
}

// Close ends the executions.
func (e *Engine) Close() {
	e.end()
	e.group.Wait()
}

// GetCapabilities implements the API.
func (e *Engine) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	functions := []repb.DigestFunction_Value{repb.DigestFunction_SHA256}
	caps := &repb.ServerCapabilities{
		CacheCapabilities:     &repb.CacheCapabilities{DigestFunctions: functions, MaxBatchTotalSizeBytes: e.o.BatchMax},
		ExecutionCapabilities: &repb.ExecutionCapabilities{DigestFunction: functions[0], DigestFunctions: functions, ExecEnabled: true},
		LowApiVersion:         &semver.SemVer{Major: 2}, HighApiVersion: &semver.SemVer{Major: 2, Minor: 3},
	}
	if e.o.Zstd {
		caps.CacheCapabilities.SupportedCompressors = []repb.Compressor_Value{repb.Compressor_ZSTD}
		caps.CacheCapabilities.SupportedBatchUpdateCompressors = caps.CacheCapabilities.SupportedCompressors
	}
	if e.o.Can != nil {
		e.o.Can(caps)
	}
	return caps, nil
}
