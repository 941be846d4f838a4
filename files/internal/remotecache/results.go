package remotecache

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
)

// errNoResult is the error of an action whose result is not here as a whole.
var errNoResult = refuse(connect.CodeNotFound, "no result of this action is here with all its outputs")

func (c *Cache) result(ctx context.Context, r *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	at, action, err := parseRequest(r.GetInstanceName(), r.GetActionDigest(), r.GetDigestFunction())
	if err != nil {
		return nil, err
	}
	data, err := c.readResult(ctx, at.result(action))
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
	if err := c.checkOutputs(ctx, at, result); err != nil {
		return nil, err
	}
	return result, nil
}

func parseRequest(name string, m *repb.Digest, f repb.DigestFunction_Value) (at instance, d digest, err error) {
	if err := errors.Join(checkInstance(name), checkFunction(f)); err != nil {
		return "", d, err
	}
	d, err = parseDigest(m)
	return instance(name), d, err
}

// readResult reads the file of a result. For a large one it first waits for memory.
func (c *Cache) readResult(ctx context.Context, name string) ([]byte, error) {
	f, err := c.store.Get(ctx, name)
	if err == nil && f.Size > smallMax {
		if err := errors.Join(f.Close(), enlarge(ctx)); err != nil {
			return nil, err
		}
		f, err = c.store.Get(ctx, name)
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

// outputsMax is how many outputs of a result are checked. A result with more counts as absent.
const outputsMax = 100_000

// checkOutputs returns errNoResult unless all outputs of a result are here.
func (c *Cache) checkOutputs(ctx context.Context, at instance, result *repb.ActionResult) error {
	k := &outputCheck{cache: c, ctx: ctx, at: at}
	for _, m := range digestsOf(result) {
		d, err := parseDigest(m)
		if err != nil {
			return errNoResult
		}
		if err := k.add(d); err != nil {
			return err
		}
	}
	if err := k.flush(); err != nil {
		return err
	}
	for _, folder := range result.GetOutputDirectories() {
		if err := errors.Join(k.addTree(folder.GetTreeDigest()), k.addRoot(folder.GetRootDirectoryDigest())); err != nil {
			return err
		}
	}
	return k.flush()
}

// digestsOf lists the digests in a result.
func digestsOf(result *repb.ActionResult) (list []*repb.Digest) {
	for _, f := range result.GetOutputFiles() {
		list = append(list, f.GetDigest())
	}
	for _, d := range result.GetOutputDirectories() {
		for _, m := range []*repb.Digest{d.GetTreeDigest(), d.GetRootDirectoryDigest()} {
			if m != nil {
				list = append(list, m)
			}
		}
	}
	for _, m := range []*repb.Digest{result.GetStdoutDigest(), result.GetStderrDigest()} {
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

// outputCheck looks for the outputs of one result.
type outputCheck struct {
	cache *Cache
	ctx   context.Context
	at    instance
	list  []digest // not yet looked for
	count int
}

// checkBatchMax is how many outputs are looked for together.
const checkBatchMax = 256

func (k *outputCheck) add(d digest) error {
	if k.count++; k.count > outputsMax {
		return errNoResult
	}
	if k.list = append(k.list, d); len(k.list) < checkBatchMax {
		return nil
	}
	return k.flush()
}

func (k *outputCheck) flush() error {
	list := k.list
	k.list = k.list[:0]
	return forEach(k.ctx, len(list), func(ctx context.Context, i int) error {
		here, err := k.cache.has(ctx, k.at, list[i])
		if err == nil && !here {
			err = errNoResult
		}
		return err
	})
}

// addTree adds the files of a Tree message, which may be large.
func (k *outputCheck) addTree(m *repb.Digest) error {
	if m == nil {
		return nil
	}
	d, err := parseDigest(m)
	if err != nil || d == empty {
		return missed(err)
	}
	f, err := k.cache.open(k.ctx, k.at, d)
	if err != nil {
		return missed(err)
	}
	defer f.Close()
	tree := &fields{r: bufio.NewReaderSize(&fileReader{ctx: k.ctx, file: f}, pieceMax), left: f.Size}
	return missed(tree.digests(treeShape, k.add))
}

// addRoot adds all below a Directory message.
func (k *outputCheck) addRoot(m *repb.Digest) error {
	if m == nil {
		return nil
	}
	root, err := parseDigest(m)
	if err != nil {
		return missed(err)
	}
	return missed(k.cache.walk(k.ctx, k.at, root, func(folder *repb.Directory, _ int) error {
		if folder == nil {
			return errNoResult
		}
		for _, f := range folder.GetFiles() {
			d, err := parseDigest(f.GetDigest())
			if err != nil {
				return err
			}
			if err := k.add(d); err != nil {
				return err
			}
		}
		return nil
	}))
}

// missed makes errNoResult of the error of an output that is not here or is not what it should
// be.
func missed(err error) error {
	if r, ok := errors.AsType[*refusal](err); ok && (r.code == connect.CodeNotFound || r.code == connect.CodeInvalidArgument) {
		return errNoResult
	}
	return err
}

func (c *Cache) updateResult(ctx context.Context, r *repb.UpdateActionResultRequest) (*repb.ActionResult, error) {
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
	if _, err := c.store.Put(ctx, at.result(action), bytes.NewReader(data), int64(len(data)), nil); err != nil {
		return nil, err
	}
	return r.GetActionResult(), nil
}

// foldersMax is how many folders of one tree are read. Each is read once, however often the
// tree contains it.
const foldersMax = 50_000

// walk calls visit with the Directory messages of a tree and their sizes, each once, and the
// root first. It calls visit with nil for a folder that is not here.
func (c *Cache) walk(ctx context.Context, at instance, root digest, visit func(*repb.Directory, int) error) error {
	if err := enlarge(ctx); err != nil {
		return err
	}
	seen := map[digest]bool{root: true}
	for queue := []digest{root}; len(queue) > 0; queue = queue[1:] {
		folder, err := c.folder(ctx, at, queue[0])
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
func (c *Cache) folder(ctx context.Context, at instance, d digest) (*repb.Directory, error) {
	if d.size > messageMax {
		return nil, invalid("content %s is too large for a folder", d)
	}
	data, err := c.content(ctx, at, d)
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
func (c *Cache) tree(ctx context.Context, r *repb.GetTreeRequest, stream *connect.ServerStream[repb.GetTreeResponse]) error {
	at, root, err := parseRequest(r.GetInstanceName(), r.GetRootDigest(), r.GetDigestFunction())
	if err != nil {
		return err
	}
	if r.GetPageToken() != "" {
		return invalid("this server gives no page tokens: ask for the whole tree")
	}
	here, err := c.has(ctx, at, root)
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
	err = c.walk(ctx, at, root, func(folder *repb.Directory, n int) error {
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
