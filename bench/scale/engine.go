package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// engine is an engine of the Remote Execution API in memory, with a number of slots. It runs no
// tool: an action takes a slot for a fixed time, and leaves a file of 1 KB beside its source.
// That file follows from the source's digest alone, so the engine keeps no source. It trusts the
// digests that it is given, and has no action cache.
type engine struct {
	repb.UnimplementedContentAddressableStorageServer
	repb.UnimplementedActionCacheServer
	repb.UnimplementedExecutionServer
	repb.UnimplementedCapabilitiesServer
	bytestream.UnimplementedByteStreamServer

	slots   chan int      // numbers of those that are free
	takes   time.Duration // time of an action in its slot
	store   store
	outputs store // the digest of a source, by that of its output
	seen    traffic
}

func newEngine(slots int, takes time.Duration) *engine {
	e := &engine{slots: make(chan int, slots), takes: takes}
	for i := range slots {
		e.slots <- i
	}
	return e
}

// traffic is what the engine saw of its client.
type traffic struct {
	Executed atomic.Int64
	Find     counter // FindMissingBlobs, in digests
	Update   counter // BatchUpdateBlobs, in bytes of contents
	Read     counter // BatchReadBlobs, in bytes of contents
	Execute  counter // Execute, in actions
}

// counter counts the requests of one kind.
type counter struct{ Requests, Sum, LargestOne, atOnce, MostAtOnce atomic.Int64 }

// begin counts a request until the function that it returns is called.
func (c *counter) begin() (end func(n int64)) {
	c.Requests.Add(1)
	raise(&c.MostAtOnce, c.atOnce.Add(1))
	return func(n int64) {
		c.Sum.Add(n)
		raise(&c.LargestOne, n)
		c.atOnce.Add(-1)
	}
}

func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); old < n && !most.CompareAndSwap(old, n); {
		old = most.Load()
	}
}

// count is a counter as the engine's process reports it.
type count struct{ Requests, Sum, LargestOne, MostAtOnce int64 }

func (c *counter) read() count {
	return count{c.Requests.Load(), c.Sum.Load(), c.LargestOne.Load(), c.MostAtOnce.Load()}
}

// report is what the engine's process prints at its end.
type report struct {
	Executed                    int64
	Find, Update, Read, Execute count
}

func (t *traffic) report() report {
	return report{t.Executed.Load(), t.Find.read(), t.Update.read(), t.Read.read(), t.Execute.read()}
}

// messageMax is the size of the largest message that the engine takes, in bytes.
const messageMax = 16 << 20

// serve prints the engine's address, serves until ctx ends, and prints what it saw. Both are JSON.
func serve(ctx context.Context, e *engine, out io.Writer) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(messageMax))
	repb.RegisterContentAddressableStorageServer(s, e)
	repb.RegisterActionCacheServer(s, e)
	repb.RegisterExecutionServer(s, e)
	repb.RegisterCapabilitiesServer(s, e)
	bytestream.RegisterByteStreamServer(s, e)
	if _, err := fmt.Fprintf(out, "%q\n", l.Addr()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		defer cancel()
		err = s.Serve(l)
	})
	<-ctx.Done()
	s.Stop()
	serving.Wait()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(e.seen.report())
}

func (e *engine) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	sha := []repb.DigestFunction_Value{repb.DigestFunction_SHA256}
	return &repb.ServerCapabilities{
		CacheCapabilities:     &repb.CacheCapabilities{DigestFunctions: sha},
		ExecutionCapabilities: &repb.ExecutionCapabilities{DigestFunctions: sha, ExecEnabled: true},
	}, nil
}

func (e *engine) FindMissingBlobs(_ context.Context, req *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	end := e.seen.Find.begin()
	defer func() { end(int64(len(req.GetBlobDigests()))) }()
	reply := &repb.FindMissingBlobsResponse{}
	for _, d := range req.GetBlobDigests() {
		k, err := keyOf(d)
		if err != nil {
			return nil, err
		}
		if _, known := e.store.get(k); !known {
			reply.MissingBlobDigests = append(reply.MissingBlobDigests, d)
		}
	}
	return reply, nil
}

func (e *engine) BatchUpdateBlobs(_ context.Context, req *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	end, size := e.seen.Update.begin(), 0
	defer func() { end(int64(size)) }()
	reply := &repb.BatchUpdateBlobsResponse{}
	for _, r := range req.GetRequests() {
		k, err := keyOf(r.GetDigest())
		if err != nil {
			return nil, err
		}
		size += len(r.GetData())
		if isSource(r.GetData()) {
			e.store.put(k, nil)
		} else {
			e.store.put(k, r.GetData())
		}
		reply.Responses = append(reply.Responses, &repb.BatchUpdateBlobsResponse_Response{Digest: r.GetDigest()})
	}
	return reply, nil
}

func (e *engine) BatchReadBlobs(_ context.Context, req *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	end, size := e.seen.Read.begin(), 0
	defer func() { end(int64(size)) }()
	reply := &repb.BatchReadBlobsResponse{}
	for _, d := range req.GetDigests() {
		one := &repb.BatchReadBlobsResponse_Response{Digest: d}
		if one.Data = e.read(d); one.Data == nil {
			one.Status = status.New(codes.NotFound, "no such content").Proto()
		}
		size += len(one.Data)
		reply.Responses = append(reply.Responses, one)
	}
	return reply, nil
}

// read returns a message, or an output, which it makes once more.
func (e *engine) read(d *repb.Digest) []byte {
	k, err := keyOf(d)
	if err != nil {
		return nil
	}
	if source, known := e.outputs.get(k); known {
		return outputOf(key(source))
	}
	data, _ := e.store.get(k)
	return data
}

func (e *engine) GetActionResult(context.Context, *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	return nil, status.Error(codes.NotFound, "this engine remembers no results")
}

func (e *engine) Execute(req *repb.ExecuteRequest, s repb.Execution_ExecuteServer) error {
	count := e.seen.Execute.begin()
	end := sync.OnceFunc(func() { count(1) })
	defer end()
	queued := timestamppb.Now()
	slot := <-e.slots
	defer func() { e.slots <- slot }()
	running, err := anypb.New(&repb.ExecuteOperationMetadata{Stage: repb.ExecutionStage_EXECUTING, ActionDigest: req.GetActionDigest()})
	if err != nil {
		return err
	}
	name := "operations/" + req.GetActionDigest().GetHash()
	if err := s.Send(&longrunningpb.Operation{Name: name, Metadata: running}); err != nil {
		return err
	}
	started := timestamppb.Now()
	done := time.NewTimer(e.takes)
	defer done.Stop()
	result, err := e.result(req.GetActionDigest())
	if err != nil {
		return err
	}
	select {
	case <-done.C:
	case <-s.Context().Done():
		return s.Context().Err()
	}
	ended := timestamppb.Now()
	result.ExecutionMetadata = &repb.ExecutedActionMetadata{
		Worker: fmt.Sprintf("slot-%04d", slot), QueuedTimestamp: queued, WorkerStartTimestamp: started, WorkerCompletedTimestamp: ended,
		ExecutionStartTimestamp: started, ExecutionCompletedTimestamp: ended,
	}
	response, err := anypb.New(&repb.ExecuteResponse{Result: result})
	if err != nil {
		return err
	}
	e.seen.Executed.Add(1)
	end() // before the client knows, which begins another one then
	return s.Send(&longrunningpb.Operation{Name: name, Done: true, Result: &longrunningpb.Operation_Response{Response: response}})
}

// result does the tool's work: the work folder with a file more. What a preflight leaves is the
// folder as it was.
func (e *engine) result(digest *repb.Digest) (*repb.ActionResult, error) {
	var action repb.Action
	var command repb.Command
	if err := e.message(digest, &action); err != nil {
		return nil, err
	}
	if err := e.message(action.GetCommandDigest(), &command); err != nil {
		return nil, err
	}
	source := command.GetArguments()[len(command.GetArguments())-1]
	isCase := source != "--version"
	if !isCase {
		source = ""
	}
	tree, err := e.folders(action.GetInputRootDigest(), command.GetWorkingDirectory(), path.Dir(source))
	if err == nil && isCase {
		err = e.addOutput(tree, source)
	}
	if err != nil {
		return nil, err
	}
	message, err := proto.Marshal(tree)
	if err != nil {
		return nil, err
	}
	k := sha256.Sum256(message)
	e.store.put(k, message)
	result := &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: digestOf(k, len(message))}}}
	if !isCase {
		result.StdoutRaw = []byte("1\n")
	}
	return result, nil
}

// folders reads the folders from the work folder to that of a source.
func (e *engine) folders(root *repb.Digest, work, dir string) (*repb.Tree, error) {
	var top repb.Directory
	if err := e.message(root, &top); err != nil {
		return nil, err
	}
	at, err := e.below(&top, work)
	if err != nil {
		return nil, err
	}
	tree := &repb.Tree{Root: at}
	for below := dir != "."; below; {
		var first string
		first, dir, below = strings.Cut(dir, "/")
		if at, err = e.below(at, first); err != nil {
			return nil, err
		}
		tree.Children = append(tree.Children, at)
	}
	return tree, nil
}

func (e *engine) below(parent *repb.Directory, name string) (*repb.Directory, error) {
	for _, d := range parent.GetDirectories() {
		if d.GetName() == name {
			found := new(repb.Directory)
			return found, e.message(d.GetDigest(), found)
		}
	}
	return nil, status.Errorf(codes.FailedPrecondition, "no folder %s", name)
}

// addOutput adds the output of a source to its folder, and then corrects the digests of the
// folders above.
func (e *engine) addOutput(tree *repb.Tree, source string) error {
	way := append([]*repb.Directory{tree.Root}, tree.Children...)
	last := way[len(way)-1]
	i := slices.IndexFunc(last.Files, func(f *repb.FileNode) bool { return f.GetName() == path.Base(source) })
	if i < 0 {
		return status.Errorf(codes.FailedPrecondition, "no file %s", source)
	}
	k, err := keyOf(last.Files[i].GetDigest())
	if err != nil {
		return err
	}
	output := outputOf(k)
	made := sha256.Sum256(output)
	e.outputs.put(made, k[:])
	last.Files = slices.Insert(last.Files, i+1, &repb.FileNode{Name: path.Base(source) + outputSuffix, Digest: digestOf(made, len(output))})
	names := strings.Split(path.Dir(source), "/")
	for i := len(way) - 1; i > 0; i-- {
		message, err := proto.Marshal(way[i])
		if err != nil {
			return err
		}
		for _, d := range way[i-1].Directories {
			if d.Name == names[i-1] {
				d.Digest = digestOf(sha256.Sum256(message), len(message))
			}
		}
	}
	return nil
}

// message reads a message. If it is gone, the client has to send it again.
func (e *engine) message(d *repb.Digest, m proto.Message) error {
	if d.GetSizeBytes() == 0 {
		return nil
	}
	k, err := keyOf(d)
	if err != nil {
		return err
	}
	data, known := e.store.get(k)
	if !known {
		return status.Errorf(codes.FailedPrecondition, "no content %s", d.GetHash())
	}
	return proto.Unmarshal(data, m)
}

func keyOf(d *repb.Digest) (k key, err error) {
	if n, err := hex.Decode(k[:], []byte(d.GetHash())); err != nil || n != len(k) {
		return k, status.Errorf(codes.InvalidArgument, "%q is no SHA-256", d.GetHash())
	}
	return k, nil
}

func digestOf(k key, size int) *repb.Digest {
	return &repb.Digest{Hash: hex.EncodeToString(k[:]), SizeBytes: int64(size)}
}
