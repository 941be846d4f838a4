package reapitest

import (
	"context"
	"slices"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
)

// Folder returns a Run for commands that leave a folder of empty files. The engine returns that
// folder on request, but never the whole work folder.
func Folder(at string, files ...string) func(context.Context, *Engine, *repb.Action, *repb.Command) *repb.ExecuteResponse {
	root := &repb.Directory{}
	for _, name := range slices.Sorted(slices.Values(files)) {
		root.Files = append(root.Files, &repb.FileNode{Name: name, Digest: blob.Of(nil).Digest.Proto()})
	}
	return func(_ context.Context, e *Engine, _ *repb.Action, c *repb.Command) *repb.ExecuteResponse {
		result := &repb.ActionResult{}
		if packed, err := proto.Marshal(&repb.Tree{Root: root}); err == nil && slices.Contains(c.GetOutputPaths(), at) {
			result.OutputDirectories = []*repb.OutputDirectory{{Path: at, TreeDigest: e.Put(packed).Proto()}}
		}
		return &repb.ExecuteResponse{Result: result}
	}
}
