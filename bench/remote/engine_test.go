package main

import (
	"context"
	"net"
	"sync"
	"testing"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// memory is an engine without a disk or a sandbox: what the stand-in leaves to the engine, a
// preflight, leaves the work folder as it was, and all else is the stand-in's work.
type memory struct {
	repb.UnimplementedContentAddressableStorageServer
	repb.UnimplementedActionCacheServer
	repb.UnimplementedExecutionServer
	repb.UnimplementedCapabilitiesServer

	mu       sync.Mutex
	contents map[string][]byte
	results  map[string]*repb.ActionResult
	asked    int // for results
	worker   *worker
	addr     string
}

// serve serves until the test ends.
func serve(t *testing.T) (*memory, *bare) {
	t.Helper()
	m := &memory{contents: map[string][]byte{}, results: map[string]*repb.ActionResult{}}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	repb.RegisterContentAddressableStorageServer(s, m)
	repb.RegisterActionCacheServer(s, m)
	repb.RegisterExecutionServer(s, m)
	repb.RegisterCapabilitiesServer(s, m)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	m.addr = l.Addr().String()
	b, err := dialBare(m.addr, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.worker = newWorker(b.conns[0])
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
		s.Stop()
		serving.Wait()
	})
	return m, b
}

func (m *memory) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	sha := []repb.DigestFunction_Value{repb.DigestFunction_SHA256}
	return &repb.ServerCapabilities{
		CacheCapabilities:     &repb.CacheCapabilities{DigestFunctions: sha},
		ExecutionCapabilities: &repb.ExecutionCapabilities{DigestFunctions: sha, ExecEnabled: true},
	}, nil
}

func (m *memory) get(d *repb.Digest) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.contents[d.GetHash()]
	return text, ok
}

func (m *memory) FindMissingBlobs(_ context.Context, req *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	reply := &repb.FindMissingBlobsResponse{}
	for _, d := range req.GetBlobDigests() {
		if _, ok := m.get(d); !ok {
			reply.MissingBlobDigests = append(reply.MissingBlobDigests, d)
		}
	}
	return reply, nil
}

func (m *memory) BatchUpdateBlobs(_ context.Context, req *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	reply := &repb.BatchUpdateBlobsResponse{}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range req.GetRequests() {
		m.contents[r.GetDigest().GetHash()] = r.GetData()
		reply.Responses = append(reply.Responses, &repb.BatchUpdateBlobsResponse_Response{Digest: r.GetDigest()})
	}
	return reply, nil
}

func (m *memory) BatchReadBlobs(_ context.Context, req *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	reply := &repb.BatchReadBlobsResponse{}
	for _, d := range req.GetDigests() {
		one := &repb.BatchReadBlobsResponse_Response{Digest: d}
		var ok bool
		if one.Data, ok = m.get(d); !ok {
			one.Status = status.New(codes.NotFound, "no such content").Proto()
		}
		reply.Responses = append(reply.Responses, one)
	}
	return reply, nil
}

func (m *memory) GetActionResult(_ context.Context, req *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if r := m.results[req.GetActionDigest().GetHash()]; r != nil {
		return r, nil
	}
	return nil, status.Error(codes.NotFound, "no such result")
}

func (m *memory) UpdateActionResult(_ context.Context, req *repb.UpdateActionResultRequest) (*repb.ActionResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[req.GetActionDigest().GetHash()] = req.GetActionResult()
	return req.GetActionResult(), nil
}

func (m *memory) Execute(req *repb.ExecuteRequest, s repb.Execution_ExecuteServer) error {
	text, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	answer, err := m.worker.execute(s.Context(), text)
	if err != nil {
		return err
	}
	if answer == nil {
		return m.preflight(req, s)
	}
	var op longrunningpb.Operation
	if err := proto.Unmarshal(answer, &op); err != nil {
		return err
	}
	return s.Send(&op)
}

func (m *memory) preflight(req *repb.ExecuteRequest, s repb.Execution_ExecuteServer) error {
	var action repb.Action
	if err := m.worker.read(s.Context(), req.GetActionDigest(), &action); err != nil {
		return err
	}
	work, err := m.worker.folder(s.Context(), action.GetInputRootDigest(), "work")
	if err != nil {
		return err
	}
	text, err := proto.Marshal(&repb.Tree{Root: work})
	if err != nil {
		return err
	}
	if err := m.worker.store(s.Context(), text); err != nil {
		return err
	}
	response, err := anypb.New(&repb.ExecuteResponse{Result: &repb.ActionResult{
		StdoutRaw: []byte("1\n"), OutputDirectories: []*repb.OutputDirectory{{TreeDigest: digest(text)}},
	}})
	if err != nil {
		return err
	}
	return s.Send(&longrunningpb.Operation{Done: true, Result: &longrunningpb.Operation_Response{Response: response}})
}
