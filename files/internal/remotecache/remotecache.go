// Package remotecache serves the cache half of the Remote Execution API over gRPC:
// Capabilities, ActionCache, ContentAddressableStorage and ByteStream. Contents are files
// named INSTANCE/cas/HASH, and results are files named INSTANCE/ac/HASH, as Bazel names them
// over HTTP. So both protocols share them.
//
// The package must not open files itself, nor execute actions, nor know tokens.
package remotecache

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"strings"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"

	"muster/fileio"
	"muster/internal/fair"
)

// Options configure a cache. All are required.
type Options struct {
	// BlobMax is the largest size of a content in bytes.
	BlobMax int64

	// Single and Streams are places of requests: of single messages of up to smallMax bytes,
	// and of streams.
	Single, Streams *fair.Budget
	// Large has the options of a budget for requests that need more memory. New sets its size.
	Large fair.Options

	// Fail converts an error of the store to the answer of a method.
	Fail func(method string, err error) error
}

// Cache is an http.Handler for the paths that Serves recognises.
type Cache struct {
	options Options
	large   *fair.Budget
	methods map[string]http.Handler
	errors  *connect.ErrorWriter
}

const (
	apiPath    = "/build.bazel.remote.execution.v2."
	streamPath = "/google.bytestream.ByteStream/"

	getTree = apiPath + "ContentAddressableStorage/GetTree"
	read    = streamPath + "Read"
	write   = streamPath + "Write"
)

// Serves reports whether a path is one of the API.
func Serves(path string) bool {
	return strings.HasPrefix(path, apiPath) || strings.HasPrefix(path, streamPath)
}

// ChangesNothing reports whether the method with a path only reads.
func ChangesNothing(path string) bool {
	switch strings.TrimPrefix(path, apiPath) {
	case "Capabilities/GetCapabilities", "ActionCache/GetActionResult", "ContentAddressableStorage/FindMissingBlobs",
		"ContentAddressableStorage/BatchReadBlobs", getTree[len(apiPath):], read, streamPath + "QueryWriteStatus":
		return true
	}
	return false
}

type readOnlyKey struct{}

// ReadOnly marks a request of a client that may only read, so that GetCapabilities reports no updates.
func ReadOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, readOnlyKey{}, true)
}

// New serves a store.
func New(store fileio.Files, o Options) *Cache {
	o.Large.Size = largeMemory / largeCost
	c := &Cache{options: o, large: fair.New(o.Large), methods: map[string]http.Handler{}, errors: connect.NewErrorWriter()}
	stored := blobs{store}
	single := contents{stored, func(err error) error { return c.fail(apiPath+"ContentAddressableStorage", err) }}
	addMethod(c, apiPath+"Capabilities/GetCapabilities", c.capabilities)
	addMethod(c, apiPath+"ActionCache/GetActionResult", stored.result)
	addMethod(c, apiPath+"ActionCache/UpdateActionResult", stored.updateResult)
	addMethod(c, apiPath+"ContentAddressableStorage/FindMissingBlobs", single.findMissing)
	addMethod(c, apiPath+"ContentAddressableStorage/BatchUpdateBlobs", single.batchUpdate)
	addMethod(c, apiPath+"ContentAddressableStorage/BatchReadBlobs", single.batchRead)
	addStream(c, getTree, stored.tree)
	addMethod(c, streamPath+"QueryWriteStatus", stored.writeStatus)
	addStream(c, read, stored.read)
	c.methods[write] = uploads{stored, o.BlobMax, c.writeError}
	return c
}

// addMethod adds a method with one message in each direction.
func addMethod[Q, A any](c *Cache, path string, method func(context.Context, *Q) (*A, error)) {
	c.methods[path] = connect.NewUnaryHandler(path, func(ctx context.Context, r *connect.Request[Q]) (*connect.Response[A], error) {
		answer, err := method(ctx, r.Msg)
		if err != nil {
			return nil, c.fail(path, err)
		}
		return connect.NewResponse(answer), nil
	}, handlerOptions()...)
}

// addStream adds a method that answers with a stream.
func addStream[Q, A any](c *Cache, path string, method func(context.Context, *Q, *connect.ServerStream[A]) error) {
	c.methods[path] = connect.NewServerStreamHandler(path, func(ctx context.Context, r *connect.Request[Q], stream *connect.ServerStream[A]) error {
		if err := method(ctx, r.Msg, stream); err != nil {
			return c.fail(path, err)
		}
		return nil
	}, handlerOptions()...)
}

func handlerOptions() []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithCodec(codec{}),
		connect.WithReadMaxBytes(messageMax),
		connect.WithCompression("gzip", newGunzip, newGzip),
		// Answers are not compressed: that costs more than it gains in the network of a team.
		connect.WithCompressMinBytes(math.MaxInt),
	}
}

// ServeHTTP answers one request, once it has a place.
func (c *Cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind := r.Header.Get("Content-Type")
	if r.Method != http.MethodPost || r.ProtoMajor < 2 || kind != "application/grpc" && kind != "application/grpc+proto" {
		http.Error(w, "this is a path of the Remote Execution API, which is served over gRPC only", http.StatusUnsupportedMediaType)
		return
	}
	method, ok := c.methods[r.URL.Path]
	if !ok {
		c.writeError(w, r, refuse(connect.CodeUnimplemented, "this server has the cache services of the Remote Execution API, and no others"))
		return
	}
	places := c.options.Single
	if path := r.URL.Path; path == read || path == write || path == getTree {
		places = c.options.Streams
	}
	client := fair.ClientOf(r.Context())
	if err := places.Take(r.Context(), client); err != nil {
		c.writeError(w, r, err)
		return
	}
	defer places.Give(client, 1)
	m := &room{large: c.large, client: client}
	defer m.leave()
	r = r.WithContext(context.WithValue(r.Context(), roomKey{}, m))
	if r.URL.Path != write {
		fail := func(err error) error { return c.fail(r.URL.Path, err) }
		r.Body = &messageBody{ReadCloser: r.Body, ctx: r.Context(), room: m, fail: fail}
	}
	method.ServeHTTP(&timedWriter{w, m}, r)
}

// writeError answers a request that has no answer yet.
func (c *Cache) writeError(w http.ResponseWriter, r *http.Request, err error) {
	_ = c.errors.Write(w, r, c.fail(r.URL.Path, err)) // an error means that the client has gone
}

// fail converts an error to an answer. It tells a refused client when to try again.
func (c *Cache) fail(method string, err error) error {
	if r, ok := errors.AsType[*refusal](err); ok && !errors.Is(err, os.ErrDeadlineExceeded) {
		return connect.NewError(r.code, r.error)
	}
	err = c.options.Fail(method, err)
	answer, ok := errors.AsType[*connect.Error](err)
	if !ok || answer.Code() != connect.CodeUnavailable {
		return err
	}
	if detail, e := connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)}); e == nil {
		answer.AddDetail(detail)
	}
	return answer
}

func (c *Cache) capabilities(ctx context.Context, r *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	if err := checkInstance(r.GetInstanceName()); err != nil {
		return nil, err
	}
	return &repb.ServerCapabilities{
		CacheCapabilities: &repb.CacheCapabilities{
			DigestFunctions:               []repb.DigestFunction_Value{repb.DigestFunction_SHA256},
			ActionCacheUpdateCapabilities: &repb.ActionCacheUpdateCapabilities{UpdateEnabled: ctx.Value(readOnlyKey{}) == nil},
			MaxBatchTotalSizeBytes:        batchMax,
			MaxCasBlobSizeBytes:           c.options.BlobMax,
			SymlinkAbsolutePathStrategy:   repb.SymlinkAbsolutePathStrategy_ALLOWED,
		},
		LowApiVersion:  &semver.SemVer{Major: 2},
		HighApiVersion: &semver.SemVer{Major: 2, Minor: 3},
	}, nil
}
