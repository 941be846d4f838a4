// Package reapitest is an engine of the Remote Execution API in memory, for tests of its
// clients: a content store, an action cache, and executions by a function, with faults on
// demand. And it starts a real one, where that is installed.
//
// It must not be part of the program, nor be more than an engine may be: what it does is in
// the API's description.
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

	"muster/regress/internal/exec/reapi/blob"
)

// Options of an engine. The zero value is one that does all it should.
type Options struct {
	// Run executes an action: what it returns is the answer. Without it, an action gives
	// its arguments as standard output. ctx ends with the engine.
	Run func(ctx context.Context, e *Engine, action *repb.Action, command *repb.Command) *repb.ExecuteResponse
	// Can changes what the engine says that it can do.
	Can func(*repb.ServerCapabilities)
	// Fault is asked at each Moment of each request: an error ends the request with it, and
	// to block is to delay. It may be called by several goroutines at once.
	Fault func(context.Context, Call) error
	// Refuse is asked for each content of a batch: an error is the answer for that one.
	Refuse func(method string, d blob.Digest) error
	// Lie changes a content that is read.
	Lie func(d blob.Digest, data []byte) []byte

	Instance  string     // the only one that it has
	Quota     int64      // bytes of contents; the oldest go first. 0 = any
	BatchMax  int64      // bytes in a batch; 0 = no limit is stated
	Zstd      bool       // it takes and gives contents in this compression
	Silent    bool       // executions have no name and no stages before the result
	Queued    bool       // they have the stage QUEUED until the result, and not EXECUTING
	MissingAs codes.Code // the status for missing inputs; 0 = FAILED_PRECONDITION, with details
	Server    []grpc.ServerOption
}

// Engine serves until it is closed. Its methods may be called at any time by any goroutine.
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
	contents   map[blob.Digest][]byte
	order      []blob.Digest // the oldest first
	size       int64
	partial    map[string][]byte // uploads under way, by resource
	results    map[blob.Digest]*repb.ActionResult
	operations map[string]*operation
	started    int // operations, for their names
	cancelled  []string
	calls      map[string]int
}

// New returns an engine, of which Serve makes a server.
func New(o Options) *Engine {
	e := &Engine{
		o: o, contents: map[blob.Digest][]byte{}, partial: map[string][]byte{}, results: map[blob.Digest]*repb.ActionResult{},
		operations: map[string]*operation{}, calls: map[string]int{},
	}
	// Without options neither fails.
	e.zip, _ = zstd.NewWriter(nil)
	e.unzip, _ = zstd.NewReader(nil)
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Serve answers on l and returns what stops that, cutting what is under way. An engine can
// be served again, as after a restart: it has its contents still.
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
	serving.Go(func() { _ = s.Serve(l) }) // its error is that it was stopped
	return func() {
		s.Stop()
		serving.Wait()
	}
}

// Memory serves without a network. dial is how clients reach it.
func (e *Engine) Memory() (dial func(context.Context, string) (net.Conn, error), stop func()) {
	l := bufconn.Listen(1 << 16)
	return func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }, e.Serve(l)
}

// Close ends the executions.
func (e *Engine) Close() {
	e.end()
	e.group.Wait()
}

// GetCapabilities is of the API.
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
