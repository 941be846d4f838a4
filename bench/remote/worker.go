package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// script is the tool whose cases are run: what it leaves follows from the size of the source
// alone, which an action's messages tell.
const script = "#!/bin/sh\ntest \"$1\" = --version && echo 1 && exit\nwc -c <\"$1\" >\"$1.out\"\n"

func leaves(size int64) []byte { return fmt.Appendln(nil, size) }

// worker stands in for the engine's own, whose sandbox takes a twentieth of a second for each
// action. It reads an action's messages from the engine, does what the tool does, and leaves
// outputs and result in the engine's store and cache, where they are from then on as if the
// engine had run it.
type worker struct {
	cas   repb.ContentAddressableStorageClient
	cache repb.ActionCacheClient

	rests atomic.Bool // it leaves all to the engine

	mu   sync.Mutex
	done []*repb.Digest // actions
}

func newWorker(conn *grpc.ClientConn) *worker {
	return &worker{cas: repb.NewContentAddressableStorageClient(conn), cache: repb.NewActionCacheClient(conn)}
}

// took returns the actions that were done since it was last called.
func (w *worker) took() []*repb.Digest {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := w.done
	w.done = nil
	return done
}

// execute answers a request to Execute; nil leaves it to the engine, which does preflights.
func (w *worker) execute(ctx context.Context, request []byte) ([]byte, error) {
	if w.rests.Load() {
		return nil, nil
	}
	var req repb.ExecuteRequest
	if err := proto.Unmarshal(request, &req); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	var action repb.Action
	var command repb.Command
	if err := w.read(ctx, req.GetActionDigest(), &action); err != nil {
		return nil, err
	}
	if err := w.read(ctx, action.GetCommandDigest(), &command); err != nil {
		return nil, err
	}
	source := command.GetArguments()[len(command.GetArguments())-1]
	if source == "--version" {
		return nil, nil
	}
	result, err := w.run(ctx, action.GetInputRootDigest(), command.GetWorkingDirectory(), source)
	if err != nil {
		return nil, err
	}
	if _, err := w.cache.UpdateActionResult(ctx, &repb.UpdateActionResultRequest{ActionDigest: req.GetActionDigest(), ActionResult: result}); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.done = append(w.done, req.GetActionDigest())
	w.mu.Unlock()
	packed, err := anypb.New(&repb.ExecuteResponse{Result: result})
	if err != nil {
		return nil, err
	}
	return proto.Marshal(&longrunningpb.Operation{Done: true, Result: &longrunningpb.Operation_Response{Response: packed}})
}

// run is what the tool does: the work folder with one file more.
func (w *worker) run(ctx context.Context, root *repb.Digest, folder, source string) (*repb.ActionResult, error) {
	tree, parent, err := w.way(ctx, root, folder, path.Dir(source))
	if err != nil {
		return nil, err
	}
	name := path.Base(source)
	i := slices.IndexFunc(parent.Files, func(f *repb.FileNode) bool { return f.GetName() == name })
	if i < 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "no file %s", source)
	}
	text := leaves(parent.Files[i].GetDigest().GetSizeBytes())
	parent.Files = slices.Insert(parent.Files, i+1, &repb.FileNode{Name: name + ".out", Digest: digest(text)})
	slices.SortFunc(parent.Files, func(a, b *repb.FileNode) int { return strings.Compare(a.Name, b.Name) })
	contents, err := sealed(tree, source)
	if err != nil {
		return nil, err
	}
	message, err := proto.Marshal(tree)
	if err != nil {
		return nil, err
	}
	if err := w.store(ctx, append(contents, text, message)...); err != nil {
		return nil, err
	}
	return &repb.ActionResult{
		OutputDirectories: []*repb.OutputDirectory{{TreeDigest: digest(message)}},
		ExecutionMetadata: &repb.ExecutedActionMetadata{Worker: "stand-in"},
	}, nil
}

// way reads the folders from the work folder to that of a source, which it returns as well.
func (w *worker) way(ctx context.Context, root *repb.Digest, work, dir string) (*repb.Tree, *repb.Directory, error) {
	parent, err := w.folder(ctx, root, work)
	if err != nil {
		return nil, nil, err
	}
	tree := &repb.Tree{Root: parent}
	for below := dir != "."; below; {
		var first string
		first, dir, below = strings.Cut(dir, "/")
		if parent, err = w.sub(ctx, parent, first); err != nil {
			return nil, nil, err
		}
		tree.Children = append(tree.Children, parent)
	}
	return tree, parent, nil
}

// sealed puts the digests of the folders on the way to the source right, from below, and
// returns the folders' messages: an engine wants to have them before it gives the result away.
func sealed(tree *repb.Tree, source string) (messages [][]byte, err error) {
	way := append([]*repb.Directory{tree.Root}, tree.Children...)
	names := strings.Split(path.Dir(source), "/")
	for i := len(way) - 1; i > 0; i-- {
		message, err := proto.Marshal(way[i])
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
		for _, d := range way[i-1].Directories {
			if d.Name == names[i-1] {
				d.Digest = digest(message)
			}
		}
	}
	return messages, nil
}

// folder reads the folder below a root.
func (w *worker) folder(ctx context.Context, root *repb.Digest, below string) (*repb.Directory, error) {
	var top repb.Directory
	if err := w.read(ctx, root, &top); err != nil {
		return nil, err
	}
	return w.sub(ctx, &top, below)
}

func (w *worker) sub(ctx context.Context, parent *repb.Directory, name string) (*repb.Directory, error) {
	for _, d := range parent.GetDirectories() {
		if d.GetName() == name {
			var found repb.Directory
			return &found, w.read(ctx, d.GetDigest(), &found)
		}
	}
	return nil, status.Errorf(codes.FailedPrecondition, "no folder %s", name)
}

func (w *worker) read(ctx context.Context, d *repb.Digest, m proto.Message) error {
	reply, err := w.cas.BatchReadBlobs(ctx, &repb.BatchReadBlobsRequest{Digests: []*repb.Digest{d}})
	if err != nil {
		return err
	}
	if len(reply.GetResponses()) != 1 {
		return status.Error(codes.Internal, "it did not answer for the content")
	}
	r := reply.GetResponses()[0]
	if err := status.FromProto(r.GetStatus()).Err(); err != nil {
		return err
	}
	return proto.Unmarshal(r.GetData(), m)
}

func (w *worker) store(ctx context.Context, contents ...[]byte) error {
	var req repb.BatchUpdateBlobsRequest
	for _, c := range contents {
		req.Requests = append(req.Requests, &repb.BatchUpdateBlobsRequest_Request{Digest: digest(c), Data: c})
	}
	reply, err := w.cas.BatchUpdateBlobs(ctx, &req)
	if err != nil {
		return err
	}
	for _, r := range reply.GetResponses() {
		if err := status.FromProto(r.GetStatus()).Err(); err != nil {
			return err
		}
	}
	return nil
}

func digest(b []byte) *repb.Digest {
	sum := sha256.Sum256(b)
	return &repb.Digest{Hash: hex.EncodeToString(sum[:]), SizeBytes: int64(len(b))}
}
