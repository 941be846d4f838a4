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
	top, err := w.folder(ctx, root, folder)
	if err != nil {
		return nil, err
	}
	tree := &repb.Tree{Root: top}
	parent := top
	for dir := path.Dir(source); dir != "."; {
		first, rest, _ := strings.Cut(dir, "/")
		i := slices.IndexFunc(parent.Directories, func(d *repb.DirectoryNode) bool { return d.GetName() == first })
		if i < 0 {
			return nil, status.Errorf(codes.FailedPrecondition, "no folder %s", dir)
		}
		sub, err := w.folder(ctx, parent.Directories[i].Digest, "")
		if err != nil {
			return nil, err
		}
		tree.Children = append(tree.Children, sub)
		parent, dir = sub, rest
		if dir == "" {
			break
		}
	}
	name := path.Base(source)
	i := slices.IndexFunc(parent.Files, func(f *repb.FileNode) bool { return f.GetName() == name })
	if i < 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "no file %s", source)
	}
	text := leaves(parent.Files[i].GetDigest().GetSizeBytes())
	parent.Files = slices.Insert(parent.Files, i+1, &repb.FileNode{Name: name + ".out", Digest: digest(text)})
	slices.SortFunc(parent.Files, func(a, b *repb.FileNode) int { return strings.Compare(a.Name, b.Name) })
	if err := w.seal(tree, source); err != nil {
		return nil, err
	}
	message, err := proto.Marshal(tree)
	if err != nil {
		return nil, err
	}
	if err := w.store(ctx, text, message); err != nil {
		return nil, err
	}
	return &repb.ActionResult{
		OutputDirectories: []*repb.OutputDirectory{{TreeDigest: digest(message)}},
		ExecutionMetadata: &repb.ExecutedActionMetadata{Worker: "stand-in"},
	}, nil
}

// seal puts the digests of the folders on the way to the source right, from below.
func (w *worker) seal(tree *repb.Tree, source string) error {
	way := append([]*repb.Directory{tree.Root}, tree.Children...)
	names := strings.Split(path.Dir(source), "/")
	for i := len(way) - 1; i > 0; i-- {
		message, err := proto.Marshal(way[i])
		if err != nil {
			return err
		}
		for _, d := range way[i-1].Directories {
			if d.Name == names[i-1] {
				d.Digest = digest(message)
			}
		}
	}
	return nil
}

// folder reads a folder, or one just below it.
func (w *worker) folder(ctx context.Context, d *repb.Digest, below string) (*repb.Directory, error) {
	var found repb.Directory
	if err := w.read(ctx, d, &found); err != nil || below == "" {
		return &found, err
	}
	for _, sub := range found.GetDirectories() {
		if sub.GetName() == below {
			return w.folder(ctx, sub.GetDigest(), "")
		}
	}
	return nil, status.Errorf(codes.FailedPrecondition, "no folder %s", below)
}

func (w *worker) read(ctx context.Context, d *repb.Digest, m proto.Message) error {
	reply, err := w.cas.BatchReadBlobs(ctx, &repb.BatchReadBlobsRequest{Digests: []*repb.Digest{d}})
	if err != nil {
		return err
	}
	for _, r := range reply.GetResponses() {
		if err := status.FromProto(r.GetStatus()).Err(); err != nil {
			return err
		}
		return proto.Unmarshal(r.GetData(), m)
	}
	return status.Error(codes.Internal, "no answer")
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
