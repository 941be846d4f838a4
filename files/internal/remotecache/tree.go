package remotecache

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
)

// foldersMax is how many folders of one tree are read. Each is read once, however often the
// tree contains it.
const foldersMax = 50_000

// walk calls visit with the Directory messages of a tree and their sizes, each once, and the
// root first. It calls visit with nil for a folder that is not here.
func (b blobs) walk(ctx context.Context, at instance, root digest, visit func(*repb.Directory, int) error) error {
	if err := enlarge(ctx); err != nil {
		return err
	}
	seen := map[digest]bool{root: true}
	for queue := []digest{root}; len(queue) > 0; queue = queue[1:] {
		folder, err := b.folder(ctx, at, queue[0])
		if err != nil && !errors.Is(err, errMissing) {
			return err
		}
		if err := visit(folder, int(queue[0].size)); err != nil {
			return err
		}
		for _, f := range folder.GetDirectories() {
			d, err := parseDigest(f.GetDigest())
			if err != nil {
				return err
			}
			if !seen[d] {
				seen[d] = true
				queue = append(queue, d)
			}
		}
		if len(seen) > foldersMax {
			return refuse(connect.CodeResourceExhausted, "the tree has more than %d folders", foldersMax)
		}
	}
	return nil
}

// folder reads a Directory message, for which the request must have room. It returns nil and
// errMissing if it is not here.
func (b blobs) folder(ctx context.Context, at instance, d digest) (*repb.Directory, error) {
	if d.size > messageMax {
		return nil, invalid("content %s is too large for a folder", d)
	}
	data, err := b.content(ctx, at, d)
	if err != nil {
		return nil, err
	}
	folder := &repb.Directory{}
	if decode(data, folder) != nil {
		return nil, invalid("content %s is not a folder", d)
	}
	return folder, nil
}

// tree answers with all folders below a root.
func (b blobs) tree(ctx context.Context, r *repb.GetTreeRequest, stream *connect.ServerStream[repb.GetTreeResponse]) error {
	at, root, err := parseRequest(r.GetInstanceName(), r.GetRootDigest(), r.GetDigestFunction())
	if err != nil {
		return err
	}
	if r.GetPageToken() != "" {
		return invalid("this server gives no page tokens: ask for the whole tree")
	}
	here, err := b.has(ctx, at, root)
	if err == nil && !here {
		err = errMissing
	}
	if err != nil {
		return err
	}
	answer, size := &repb.GetTreeResponse{}, 0
	send := func() error {
		if len(answer.Directories) == 0 {
			return nil
		}
		err := stream.Send(answer)
		answer, size = &repb.GetTreeResponse{}, 0
		return err
	}
	err = b.walk(ctx, at, root, func(folder *repb.Directory, n int) error {
		if folder == nil {
			return nil
		}
		answer.Directories = append(answer.Directories, folder)
		if size += n; size < pieceMax && (r.GetPageSize() <= 0 || len(answer.Directories) < int(r.GetPageSize())) {
			return nil
		}
		return send()
	})
	if err != nil {
		return err
	}
	return send()
}
