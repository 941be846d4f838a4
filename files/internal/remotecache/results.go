package remotecache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
)

func (b blobs) result(ctx context.Context, r *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	at, action, err := parseRequest(r.GetInstanceName(), r.GetActionDigest(), r.GetDigestFunction())
	if err != nil {
		return nil, err
	}
	data, err := b.readResult(ctx, at.result(action))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoResult
	}
	if err != nil {
		return nil, err
	}
	result := &repb.ActionResult{}
	if decode(data, result) != nil { // written over HTTP, perhaps by another kind of client
		return nil, errNoResult
	}
	if err := b.checkOutputs(ctx, at, result); err != nil {
		return nil, err
	}
	return result, nil
}

// readResult reads the file of a result. For a large one it first waits for memory.
func (b blobs) readResult(ctx context.Context, name string) ([]byte, error) {
	f, err := b.store.Get(ctx, name)
	if err == nil && f.Size > smallMax {
		if err := errors.Join(f.Close(), enlarge(ctx)); err != nil {
			return nil, err
		}
		f, err = b.store.Get(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size > messageMax {
		return nil, errNoResult
	}
	return readAll(ctx, f)
}

func (b blobs) updateResult(ctx context.Context, r *repb.UpdateActionResultRequest) (*repb.ActionResult, error) {
	at, action, err := parseRequest(r.GetInstanceName(), r.GetActionDigest(), r.GetDigestFunction())
	if err != nil {
		return nil, err
	}
	for _, m := range digestsOf(r.GetActionResult()) {
		if _, err := parseDigest(m); err != nil {
			return nil, err
		}
	}
	data, err := proto.Marshal(r.GetActionResult())
	if err != nil {
		return nil, err
	}
	if _, err := b.store.Put(ctx, at.result(action), bytes.NewReader(data), int64(len(data)), nil); err != nil {
		return nil, err
	}
	return r.GetActionResult(), nil
}
