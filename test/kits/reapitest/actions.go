package reapitest

import (
	"context"
	"fmt"
	"strings"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// operation is one execution. Several streams may report it.
type operation struct {
	name     string
	done     chan struct{}
	response *repb.ExecuteResponse
}

// GetActionResult implements the API.
func (e *Engine) GetActionResult(_ context.Context, req *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	d, err := digestOf(req.GetActionDigest())
	if err != nil {
		return nil, err
	}
	if r := e.result(d); r != nil {
		return inlined(r, req), nil
	}
	return nil, status.Error(codes.NotFound, "no result")
}

// inlined returns a result that has only the requested streams inline, if they are stored.
func inlined(r *repb.ActionResult, req interface{ GetInlineStdout() bool }) *repb.ActionResult {
	if r.GetStdoutDigest() == nil || req.GetInlineStdout() {
		return r
	}
	r = proto.CloneOf(r)
	r.StdoutRaw = nil
	return r
}

func (e *Engine) result(d Digest) *repb.ActionResult {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.results[d]
}

// Execute implements the API.
func (e *Engine) Execute(req *repb.ExecuteRequest, s repb.Execution_ExecuteServer) error {
	d, err := digestOf(req.GetActionDigest())
	if err != nil {
		return err
	}
	if r := e.result(d); r != nil && !req.GetSkipCacheLookup() {
		return s.Send(final("", &repb.ExecuteResponse{Result: inlined(r, req), CachedResult: true}))
	}
	action, command := &repb.Action{}, &repb.Command{}
	if absent := e.absent(d, action, command); len(absent) > 0 {
		return e.missingInputs(absent)
	}
	if err := e.checkCanonical(d, action, command); err != nil {
		return err
	}
	op := e.start(d, action, command, req)
	if e.o.Silent {
		op = &operation{done: op.done, response: op.response}
	}
	return e.follow(op, s)
}

// WaitExecution implements the API.
func (e *Engine) WaitExecution(req *repb.WaitExecutionRequest, s repb.Execution_WaitExecutionServer) error {
	e.mu.Lock()
	op := e.operations[req.GetName()]
	e.mu.Unlock()
	if op == nil {
		return status.Error(codes.NotFound, "no such operation")
	}
	return e.follow(op, s)
}

// ForgetOperations makes all operation names unknown.
func (e *Engine) ForgetOperations() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.operations)
}

// CancelOperation implements the API. The execution goes on, as the API allows.
func (e *Engine) CancelOperation(_ context.Context, req *longrunningpb.CancelOperationRequest) (*emptypb.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancelled = append(e.cancelled, req.GetName())
	return &emptypb.Empty{}, nil
}

// Cancelled returns the names of the operations that clients have cancelled.
func (e *Engine) Cancelled() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.cancelled...)
}

func (e *Engine) start(d Digest, action *repb.Action, command *repb.Command, req *repb.ExecuteRequest) *operation {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started++
	op := &operation{name: fmt.Sprintf("operations/%d", e.started), done: make(chan struct{}), response: &repb.ExecuteResponse{}}
	e.operations[op.name] = op
	e.group.Go(func() {
		defer close(op.done)
		proto.Merge(op.response, e.run(action, command))
		if status.FromProto(op.response.GetStatus()).Code() == codes.OK && !action.GetDoNotCache() {
			e.mu.Lock()
			e.results[d] = op.response.GetResult()
			e.mu.Unlock()
		}
		if r := op.response.GetResult(); r != nil {
			op.response.Result = inlined(r, req)
		}
	})
	return op
}

func (e *Engine) run(action *repb.Action, command *repb.Command) *repb.ExecuteResponse {
	if e.o.Run != nil {
		return e.o.Run(e.life, e, action, command)
	}
	return &repb.ExecuteResponse{Result: &repb.ActionResult{StdoutRaw: []byte(strings.Join(command.GetArguments(), " "))}}
}

// follow reports an execution until it or the stream has ended.
func (e *Engine) follow(op *operation, s repb.Execution_ExecuteServer) error {
	if op.name != "" {
		if err := s.Send(progress(op.name, repb.ExecutionStage_EXECUTING)); err != nil {
			return err
		}
	}
	select {
	case <-s.Context().Done():
		return status.FromContextError(s.Context().Err()).Err()
	case <-op.done:
		return s.Send(final(op.name, op.response))
	}
}

func progress(name string, stage repb.ExecutionStage_Value) *longrunningpb.Operation {
	about, _ := anypb.New(&repb.ExecuteOperationMetadata{Stage: stage})
	return &longrunningpb.Operation{Name: name, Metadata: about}
}

func final(name string, response *repb.ExecuteResponse) *longrunningpb.Operation {
	op := progress(name, repb.ExecutionStage_COMPLETED)
	packed, _ := anypb.New(response)
	op.Done, op.Result = true, &longrunningpb.Operation_Response{Response: packed}
	return op
}

// absent reads an action and its command, and returns all inputs that are missing.
func (e *Engine) absent(d Digest, action *repb.Action, command *repb.Command) []Digest {
	if !e.message(d, action) {
		return []Digest{d}
	}
	var absent []Digest
	if d, err := digestOf(action.GetCommandDigest()); err != nil || !e.message(d, command) {
		absent = append(absent, d)
	}
	return append(absent, e.absentBelow(action.GetInputRootDigest())...)
}

func (e *Engine) absentBelow(root *repb.Digest) (absent []Digest) {
	folder := &repb.Directory{}
	d, err := digestOf(root)
	if err != nil || !e.message(d, folder) {
		return []Digest{d}
	}
	for _, f := range folder.GetFiles() {
		d, err := digestOf(f.GetDigest())
		if _, ok := e.Get(d); err != nil || !ok {
			absent = append(absent, d)
		}
	}
	for _, f := range folder.GetDirectories() {
		absent = append(absent, e.absentBelow(f.GetDigest())...)
	}
	return absent
}

func (e *Engine) message(d Digest, m proto.Message) bool {
	data, ok := e.Get(d)
	return ok && proto.Unmarshal(data, m) == nil
}

// missingInputs reports missing inputs in one of the forms that engines use.
func (e *Engine) missingInputs(absent []Digest) error {
	if e.o.MissingAs != codes.OK {
		return status.Errorf(e.o.MissingAs, "blob %s not found", absent[0].Hash)
	}
	failure := &errdetails.PreconditionFailure{}
	for _, d := range absent {
		failure.Violations = append(failure.Violations, &errdetails.PreconditionFailure_Violation{
			Type: "MISSING", Subject: fmt.Sprintf("blobs/%s/%d", d.Hash, d.Size),
		})
	}
	s, err := status.New(codes.FailedPrecondition, "inputs are missing").WithDetails(failure)
	if err != nil {
		return err
	}
	return s.Err()
}
